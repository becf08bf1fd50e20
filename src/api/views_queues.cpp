#include "api/view_fields.h"

namespace atl::api {
namespace {

constexpr std::array kQueue{
    always(Kind::text, "name", "Its name."),
    always(Kind::text, "namespace", "Where it is."),
    always(Kind::text, "visibility", "How long a lease holds."),
    always(Kind::integer, "attempts", "How often an item is leased at most."),
    always(Kind::boolean, "dead_letters", "Whether items that had all their attempts are kept."),
    always(Kind::boolean, "closed", "Whether it takes no more items."),
    always(Kind::time, "created", "When it was made."),
    always(Kind::integer, "ready", "Items that may be leased."),
    always(Kind::integer, "delayed", "Items that wait for a time."),
    always(Kind::integer, "leased", "Items that somebody works on."),
    always(Kind::integer, "dead", "Items that had all their attempts."),
    always(Kind::integer, "put", "Items ever put."),
    always(Kind::integer, "done", "Items ever done."),
    always(Kind::integer, "given_back", "How often an item was given back."),
    always(Kind::integer, "expired", "How often the lease of an item ran out."),
    always(Kind::integer, "put_per_minute", "Items put in the last minute."),
    always(Kind::integer, "done_per_minute", "Items done in the last minute."),
    maybe(Kind::number, "oldest_seconds", "How long the oldest ready item is there."),
    always(Kind::integer, "bytes_max", "What the bodies take at most; at least half of it.")};
constexpr std::array kQueueList{always(Kind::objects, "queues", "By name.", queue_shape)};
constexpr std::array kPutAnswer{
    always(Kind::integers, "items", "Their numbers, in the order they were sent."),
    always(Kind::integer, "repeated", "How many of them were there already, by their key.")};
constexpr std::array kLeasedItem{
    always(Kind::integer, "id", "Its number."),
    always(Kind::integer, "attempt", "Which lease of it this is, from 1."),
    always(Kind::integer, "priority", "As it was put."),
    sometimes(Kind::text, "key", "As it was put."),
    sometimes(Kind::text, "body", "What there is to do, when it is text."),
    sometimes(Kind::text, "base64", "The same, when it is not.")};
const Shape& leased_item_shape() {
  static constexpr Shape shape{"LeasedItem", "An item to work on.", kLeasedItem};
  return shape;
}
constexpr std::array kLeaseAnswer{
    maybe(Kind::integer, "lease", "Its number; null when there was nothing to lease."),
    maybe(Kind::time, "until", "When it runs out."),
    always(Kind::objects, "items", "Most urgent first.", leased_item_shape),
    always(Kind::integer, "left", "Items that are ready, delayed or leased, these too."),
    always(Kind::boolean, "closed", "Whether no more will come.")};
constexpr std::array kDeadItem{
    always(Kind::integer, "id", "Its number."),
    always(Kind::integer, "attempts", "How often it was leased."),
    always(Kind::integer, "priority", "As it was put."),
    always(Kind::time, "put", "When it was put, to the second."),
    always(Kind::time, "died", "When it was given back for the last time."),
    always(Kind::text, "cause", "given_back, or expired: its lease ran out."),
    always(Kind::text, "message", "What its last worker said."),
    sometimes(Kind::text, "key", "As it was put."),
    sometimes(Kind::text, "body", "Its body, when it is text."),
    sometimes(Kind::text, "base64", "The same, when it is not.")};
const Shape& dead_item_shape() {
  static constexpr Shape shape{"DeadItem", "An item that had all its attempts.", kDeadItem};
  return shape;
}
constexpr std::array kDeadList{always(Kind::objects, "items", "By number.", dead_item_shape),
                               maybe(Kind::integer, "next", "What to say as `after` for more.")};
constexpr std::array kItemCount{
    always(Kind::integer, "count", "Of how many items this is true now."),
    always(Kind::integer, "left", "How many more there are of what was asked for.")};
constexpr std::array kExtended{always(Kind::time, "until", "When they run out now.")};

}  // namespace

#define ATOLL_VIEW(function, name, sentence, fields)      \
  const Shape& function() {                               \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_VIEW(queue_shape, "Queue", "A durable list of work items.", kQueue)
ATOLL_VIEW(queue_list_shape, "QueueList", "Queues of a namespace.", kQueueList)
ATOLL_VIEW(put_shape, "ItemsPut", "What became of items that were put.", kPutAnswer)
ATOLL_VIEW(lease_shape, "Lease", "Items for one worker, for a time.", kLeaseAnswer)
ATOLL_VIEW(dead_list_shape, "DeadItems", "Dead letters.", kDeadList)
ATOLL_VIEW(item_count_shape, "ItemCount", "How many items it was done to.", kItemCount)
ATOLL_VIEW(extended_shape, "Extended", "Leases that hold longer.", kExtended)
#undef ATOLL_VIEW

}  // namespace atl::api
