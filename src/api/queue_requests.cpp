#include "api/queue_requests.h"

#include <array>

#include "core/limits.h"

namespace atl::spec {
namespace {

using namespace api;

constexpr const char* kRemovals[] = {"dead", "waiting", "all"};

constexpr Doc kVisibility{
    .name = "visibility",
    .sentence = "How long a lease holds before its items are given to others, 1s to 7d.",
    .example = "\"5m\"",
    .fallback = "\"1m\""};
constexpr Doc kAttempts{.name = "attempts",
                        .sentence = "How often an item is leased before it is a dead letter.",
                        .example = "3",
                        .fallback = "5",
                        .low = 1,
                        .high = core::kItemAttemptsMax};
constexpr Doc kDeadLetters{
    .name = "dead_letters",
    .sentence = "Whether items that had all their attempts are kept; else they are removed.",
    .example = "true",
    .fallback = "true"};
constexpr Doc kOwnVisibility{.name = "visibility",
                             .sentence = "From now on; that of the queue when left out.",
                             .example = "\"5m\""};
constexpr Doc kLease{.name = "lease",
                     .sentence = "Its number, as the lease said.",
                     .example = "17",
                     .low = 1,
                     .required = true};
constexpr Doc kLeased{.name = "items",
                      .sentence = "Numbers of its items; all that are left of it when left out.",
                      .example = "[4, 5]",
                      .low = 1,
                      .high = core::kItemsPerLeaseMax};

constexpr std::array kQueueWish{
    field<&QueueWish::name>({.name = "name",
                             .sentence = "Its name in the namespace: a-z 0-9 . _ -",
                             .example = "\"frames\"",
                             .low = 1,
                             .high = 63,
                             .required = true}),
    field<&QueueWish::visibility>(kVisibility), field<&QueueWish::attempts>(kAttempts),
    field<&QueueWish::dead_letters>(kDeadLetters)};
constexpr std::array kQueueChange{
    field<&QueueChange::visibility>({.name = "visibility",
                                     .sentence = "Of leases from now on, 1s to 7d.",
                                     .example = "\"5m\""}),
    field<&QueueChange::attempts>(
        {.name = "attempts",
         .sentence = "How often an item is leased at most, those that are there too.",
         .example = "3",
         .low = 1,
         .high = core::kItemAttemptsMax}),
    field<&QueueChange::dead_letters>(
        {.name = "dead_letters", .sentence = "Whether they are kept.", .example = "true"}),
    field<&QueueChange::closed>(
        {.name = "closed",
         .sentence = "A closed queue takes no more items; when nothing is left, it is finished.",
         .example = "true"})};
constexpr std::array kItemWish{
    field<&ItemWish::body>({.name = "body",
                            .sentence = "What there is to do, as text of at most 256 KiB.",
                            .example = "\"frame-0001.png\""}),
    field<&ItemWish::base64>({.name = "base64",
                              .sentence = "The same in base64, for bytes that are not text.",
                              .example = "\"AAEC\""}),
    field<&ItemWish::priority>({.name = "priority",
                                .sentence = "Higher ones are leased first.",
                                .example = "10",
                                .fallback = "0",
                                .low = -core::kItemPriorityMax,
                                .high = core::kItemPriorityMax}),
    field<&ItemWish::delay>({.name = "delay",
                             .sentence = "How long it waits before it may be leased.",
                             .example = "\"30s\"",
                             .fallback = "\"0s\""}),
    field<&ItemWish::key>({.name = "key",
                           .sentence = "An item of this key that is not done yet is not put again.",
                           .example = "\"frame-0001\"",
                           .high = core::kKeyBytesMax})};
constexpr std::array kPutWish{field<&PutWish::items>({.name = "items",
                                                      .sentence = "All of them or none is put.",
                                                      .low = 1,
                                                      .high = core::kItemsPerPutMax,
                                                      .required = true})};
constexpr std::array kLeaseWish{
    field<&LeaseWish::max>({.name = "max",
                            .sentence = "At most so many items, and about 16 MiB of bodies.",
                            .example = "10",
                            .fallback = "1",
                            .low = 1,
                            .high = core::kItemsPerLeaseMax}),
    field<&LeaseWish::visibility>(kOwnVisibility),
    field<&LeaseWish::holder>({.name = "holder",
                               .sentence = "Who works on them, for people.",
                               .example = "\"worker 3\"",
                               .high = core::kNameBytesMax}),
    field<&LeaseWish::wait>(
        {.name = "wait",
         .sentence = "How long to wait for an item when there is none, up to 30s; the answer may "
                     "come a second later.",
         .example = "\"1s\"",
         .fallback = "\"0s\""}),
    field<&LeaseWish::until_dry>(
        {.name = "until_dry",
         .sentence = "Wait no longer than something is left that somebody works on. A closed queue "
                     "is not waited for in any case.",
         .example = "true",
         .fallback = "false"})};
constexpr std::array kDoneWish{field<&DoneWish::lease>(kLease), field<&DoneWish::items>(kLeased)};
constexpr std::array kRetryWish{
    field<&RetryWish::lease>(kLease), field<&RetryWish::items>(kLeased),
    field<&RetryWish::delay>({.name = "delay",
                              .sentence = "How long they wait before they may be leased again.",
                              .example = "\"30s\"",
                              .fallback = "\"0s\""}),
    field<&RetryWish::message>({.name = "message",
                                .sentence = "Why; a dead letter shows it.",
                                .example = "\"exit code 1\"",
                                .high = core::kItemMessageBytesMax})};
constexpr std::array kExtendWish{
    field<&ExtendWish::leases>({.name = "leases",
                                .sentence = "Numbers of leases; all are extended or none.",
                                .example = "[17]",
                                .low = 1,
                                .high = core::kLeasesPerExtensionMax,
                                .required = true}),
    field<&ExtendWish::visibility>(kOwnVisibility)};
constexpr std::array kRestoreWish{field<&RestoreWish::items>(
    {.name = "items",
     .sentence = "Numbers of dead letters; the first 10000 when left out.",
     .example = "[4]",
     .low = 1,
     .high = core::kItemsPerRemovalMax})};
constexpr std::array kPurgeWish{
    field<&PurgeWish::what>(
        {.name = "what",
         .sentence = "Dead letters, what waits (ready or delayed), or all, leased items too.",
         .example = "\"dead\"",
         .fallback = "\"dead\"",
         .choices = kRemovals}),
    field<&PurgeWish::items>({.name = "items",
                              .sentence = "Numbers of items; the first 10000 when left out.",
                              .example = "[4]",
                              .low = 1,
                              .high = core::kItemsPerRemovalMax})};

}  // namespace

#define ATOLL_SHAPE(type, name, sentence, fields)         \
  template <>                                             \
  const Shape& shape_of<type>() {                         \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_SHAPE(QueueWish, "QueueWish", "A queue to be made.", kQueueWish)
ATOLL_SHAPE(QueueChange, "QueueChange", "What changes of a queue.", kQueueChange)
ATOLL_SHAPE(ItemWish, "ItemWish", "An item: either body or base64.", kItemWish)
ATOLL_SHAPE(PutWish, "PutWish", "Items for a queue.", kPutWish)
ATOLL_SHAPE(LeaseWish, "LeaseWish", "What a worker would like to work on.", kLeaseWish)
ATOLL_SHAPE(DoneWish, "DoneWish", "Leased items that are done.", kDoneWish)
ATOLL_SHAPE(RetryWish, "RetryWish", "Leased items that are given back.", kRetryWish)
ATOLL_SHAPE(ExtendWish, "ExtendWish", "Leases that shall hold longer.", kExtendWish)
ATOLL_SHAPE(RestoreWish, "RestoreWish", "Dead letters that shall be tried again.", kRestoreWish)
ATOLL_SHAPE(PurgeWish, "PurgeWish", "Items that shall be removed.", kPurgeWish)
#undef ATOLL_SHAPE

}  // namespace atl::spec
