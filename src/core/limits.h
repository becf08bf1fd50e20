// Every bound of the core, each with its reason. A request beyond one is refused with its name and
// value.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace atl::core {

inline constexpr uint64_t kArraySizeMax =
    10'000'000;  // promised to users; indices are stored as ranges
inline constexpr uint32_t kArrayIndexMax = 2'000'000'000;
inline constexpr uint32_t kArrayRangesMax =
    10'000;  // a list of single indices would defeat the ranges
inline constexpr uint32_t kBatchJobsMax =
    10'000;  // one request holds the core's thread for about 10 ms
inline constexpr uint32_t kDependenciesMax = 1'000;  // per job; more is a workflow
inline constexpr uint32_t kLabelsMax = 64;
inline constexpr uint32_t kLabelBytesMax = 256;
inline constexpr uint32_t kNameBytesMax = 128;
inline constexpr uint32_t kSiteChoicesMax = 16;  // named by one job, in order of preference
inline constexpr uint32_t kSiteDefinitionBytesMax = 256 << 10;  // a template of scripts is in it
inline constexpr uint32_t kKeyBytesMax = 256;                   // idempotency key
inline constexpr uint32_t kRetriesMax = 1'000;
inline constexpr int32_t kPriorityMax = 1'000'000;      // both signs
inline constexpr int64_t kCpuMilliMax = 1'000'000'000;  // a million cores
inline constexpr int64_t kMemoryBytesMax = int64_t{1} << 50;
inline constexpr uint32_t kDeviceCountMax = 100'000;
inline constexpr uint32_t kDeviceRequestsMax = 16;
inline constexpr uint32_t kDeviceModelsMax = 16;          // in one list of preferences
inline constexpr uint32_t kDeviceSlotsMax = 16;           // of a device that is cut into slices
inline constexpr Duration kCheckpointSpan = seconds(10);  // a shorter run to a checkpoint
inline constexpr Duration kCheckpointPause = seconds(1);  // is followed by a pause
inline constexpr Duration kWallMax = hours(24 * 366);
inline constexpr Duration kGraceMax = hours(1);
inline constexpr Duration kBackoffMax = hours(24);
inline constexpr uint32_t kPlacementsPerRoundMax =
    2'000;  // keeps one round under 100 ms in a large world; the next round goes on
inline constexpr uint32_t kPromisesPerRoundMax = 64;  // tasks for which others yield; likewise
inline constexpr uint32_t kAwaitedPerRoundMax =
    4;  // heads of the line that keep room for themselves
inline constexpr Duration kBriskMax =
    milliseconds(100);  // a task so short that the way to the site and back would cost a good part
inline constexpr Duration kInLineMax = seconds(1);  // then it may begin elsewhere
inline constexpr uint32_t kLineLengthMax =
    8;  // behind one task: enough for one commit to serve several
inline constexpr Duration kLineSpan =
    milliseconds(20);  // what a line of several takes: so long may urgent work have to wait for it
inline constexpr uint32_t kWeightMilliMin = 1;
inline constexpr uint32_t kWeightMilliMax = 1'000'000'000;
inline constexpr int64_t kMemoryQuotaMin = 1 << 20;  // but 0: less holds no task
inline constexpr uint32_t kCohortDepthMax = 8;       // institute, group, project and room to spare
inline constexpr uint32_t kCalendarEntriesMax = 100;
inline constexpr uint32_t kReservationsMax = 1'000;
inline constexpr uint32_t kReservedPartsMax = 10'000;
inline constexpr Duration kReservationMax = hours(24 * 366);  // long, and ahead
inline constexpr uint32_t kGangMax = 10'000;
inline constexpr Duration kHalfLifeMin = minutes(1);
inline constexpr Duration kHalfLifeMax = hours(24 * 366);
inline constexpr Duration kAgeingMin = seconds(1);
inline constexpr Duration kAgeingMax = hours(24 * 366);
inline constexpr uint32_t kSettlementsPerRoundMax = 2'000;
inline constexpr uint32_t kStepsMax = 2'000'000;  // of a workflow; each costs about 200 bytes
inline constexpr uint32_t kStepsBatchMax =
    2'000;  // added by one command, which holds the core's thread for about 5 ms
inline constexpr uint32_t kStepsUnderWayMax =
    4'000;  // of a workflow: a million steps are never a million live jobs
inline constexpr uint32_t kStepsPerRoundMax = 2'000;  // started or ended by one tick
inline constexpr uint32_t kFeedsMax =
    1'000;  // steps of a workflow that go through queues: each is looked at when one of them moves
inline constexpr uint32_t kStepNeedsMax = 100'000;  // of one step: one that waits for all of a fan
inline constexpr uint32_t kWorkflowsMax = 10'000;   // not ended
inline constexpr uint32_t kLaneBytesMax = 500;
inline constexpr Duration kTimeLimitMax = hours(24 * 366);  // of a workflow
inline constexpr uint32_t kDocumentBytesMax = 1 << 20;
inline constexpr uint32_t kDocumentsMax = 10'000;      // of a namespace
inline constexpr uint32_t kReasonBytesMax = 1'000;     // why a step ended as it did
inline constexpr uint32_t kOutputBytesMax = 64 << 10;  // of all values of a step
inline constexpr Duration kUnsealedMax =
    minutes(10);  // whoever was adding its steps is gone: it never starts
inline constexpr uint32_t kLostAttemptsMax =
    3;  // infrastructure losses retried for free before a run is `lost`
inline constexpr uint32_t kAttemptsMax =
    100'000;  // a run that asks to be resumed for ever ends as failed

inline constexpr uint32_t kQueuesMax = 10'000;          // alive at once, of all namespaces
inline constexpr uint32_t kQueueIdMax = (1 << 23) - 1;  // a body's key holds it beside the item's
inline constexpr uint64_t kItemIdMax = (uint64_t{1} << 40) - 1;  // likewise
inline constexpr uint64_t kQueueItemsMax = 10'000'000;           // of one queue
inline constexpr uint64_t kQueueBytesMax = uint64_t{64} << 30;   // of bodies of one queue
inline constexpr uint32_t kItemBytesMax = 256 << 10;  // a body; more belongs into a file or a store
inline constexpr uint32_t kItemsPerPutMax =
    10'000;  // one request holds the core's thread for 10 ms
inline constexpr uint32_t kItemsPerLeaseMax = 1'000;     // what one worker may lose at once
inline constexpr uint64_t kLeaseBytesMax = 16 << 20;     // an answer stays small enough to be sent
inline constexpr uint32_t kItemsPerRemovalMax = 10'000;  // as for a put
inline constexpr uint32_t kItemsPerTickMax = 2'000;      // whose lease or delay ends
inline constexpr uint32_t kLeasesPerExtensionMax = 1'000;
inline constexpr int32_t kItemPriorityMax = 1'000;       // both signs; few enough to walk them all
inline constexpr uint32_t kItemMessageBytesMax = 1'024;  // why it was given back
inline constexpr uint32_t kItemAttemptsMax = 1'000;
inline constexpr Duration kVisibilityMin = seconds(1);
inline constexpr Duration kVisibilityMax = hours(24 * 7);  // a worker that lives extends its lease
inline constexpr Duration kItemDelayMax = hours(24 * 366);
inline constexpr Duration kRunSpan = seconds(1);  // items put within it are kept as one run

inline constexpr uint32_t kSchedulesMax = 10'000;
inline constexpr uint32_t kSchedulesPerNamespaceMax = 1'000;
inline constexpr uint32_t kProgramBytesMax = 1 << 20;  // of a workflow's files: it is in the state
inline constexpr uint32_t kTimesKept = 16;    // known ahead; a restart need not ask for them again
inline constexpr uint32_t kFiringsKept = 50;  // of a schedule, that people can look at
inline constexpr uint32_t kOpeningMax = 100;  // runs of a schedule that are being made
inline constexpr uint32_t kMadeUpMax = 100;   // missed times that are made up for in a row
inline constexpr uint32_t kRunsWaitingMax = 100;  // of a schedule whose runs wait for each other
inline constexpr uint32_t kSchedulesPerTickMax = 500;
inline constexpr Duration kMissedAfter = minutes(1);  // later than that, a time was missed
inline constexpr uint32_t kDeliveriesKept = 1'000;    // that are known when they come again
inline constexpr uint32_t kFiringBodyMax = 64 << 10;  // what comes with a delivery
inline constexpr uint32_t kWatchedFilesMax = 1'000;   // of a schedule
inline constexpr Duration kQuietMax = hours(24);

}  // namespace atl::core
