#include "journal/faulty_vfs.h"

#include <sqlite3.h>

namespace atl::journal {
namespace {

constexpr const char* kName = "faulty";

struct File {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real(); }
sqlite3_vfs* real_vfs() { return sqlite3_vfs_find("unix"); }

bool fails_now() {
  FaultPlan& plan = fault_plan();
  const int64_t now = ++plan.operations;
  const int64_t at = plan.fail_at;
  return at > 0 && (plan.for_good ? now >= at : now == at);
}

int close_file(sqlite3_file* f) {
  return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}
int read_file(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), to, size, at);
}
// A failing write leaves half of its bytes behind, as a full disk may.
int write_file(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  if (!fails_now()) return real(f)->pMethods->xWrite(real(f), from, size, at);
  real(f)->pMethods->xWrite(real(f), from, size / 2, at);
  return SQLITE_FULL;
}
int truncate_file(sqlite3_file* f, sqlite3_int64 size) {
  return fails_now() ? SQLITE_IOERR_TRUNCATE : real(f)->pMethods->xTruncate(real(f), size);
}
// A failing sync may have written everything all the same; that is the harder case.
int sync_file(sqlite3_file* f, int flags) {
  const bool fails = fails_now();
  const int code = real(f)->pMethods->xSync(real(f), flags);
  return fails ? SQLITE_IOERR_FSYNC : code;
}
int file_size(sqlite3_file* f, sqlite3_int64* size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
int lock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int check_lock(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int file_control(sqlite3_file* f, int op, void* arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
int sector_size(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
int shm_lock(sqlite3_file* f, int at, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}
void shm_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }

constexpr sqlite3_io_methods kMethods = {
    2,         close_file,  read_file,  write_file,   truncate_file, sync_file,       file_size,
    lock_file, unlock_file, check_lock, file_control, sector_size,   characteristics, shm_map,
    shm_lock,  shm_barrier, shm_unmap,  nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
  f->pMethods = nullptr;
  const int code = real_vfs()->xOpen(real_vfs(), name, real(f), flags, out);
  if (code == SQLITE_OK) f->pMethods = &kMethods;
  return code;
}

}  // namespace

void FaultPlan::arm(int64_t at, bool ever_after) {
  operations = 0;
  for_good = ever_after;
  fail_at = at;
}

FaultPlan& fault_plan() {
  static FaultPlan plan;
  return plan;
}

const char* faulty_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs copy = *real_vfs();
    copy.szOsFile += static_cast<int>(sizeof(File));
    copy.zName = kName;
    copy.xOpen = open_file;
    return copy;
  }();
  sqlite3_vfs_register(&vfs, 0);
  return kName;
}

}  // namespace atl::journal
