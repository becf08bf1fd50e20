# Atoll on a machine that is not its own: everything that is placed there. POSIX sh, tried with dash
# and busybox; run as `sh wrapper.sh VERB ROOT ...`, never executed, so a noexec home is no hindrance.
#
#   ROOT/attempts/ID/    ID is job.index.attempt
#     order              what the wrapper is to know, as assignments
#     task               environment, directory and command, read by the task's own shell
#     script, stdin      when it has them
#     run/               made by whoever begins it, so it begins once; pid: PID START HOST BOOT STARTED
#     stop               the wish to end it: GRACE NOTICE
#     out, err, progress, notice
#     ended              CAUSE CODE SIGNAL STARTED ENDED CPU MEMORY OUT ERR CHECKPOINTED FILES MESSAGE
#   ROOT/kept/JOB/ID/    the same, once the server has written the result down
#   ROOT/jobs/JOB/       ATOLL_JOB_DIR
#   ROOT/lease           up to which moment of this machine's uptime the server has surely heard of it
#
# Times are microseconds, sizes bytes. Small files are written beside their place and moved there.

verb=$1 ROOT=$2
shift 2
self=$0
umask 077

put() { # FILE TEXT
  printf '%s\n' "$2" 2>/dev/null >"$1.$$" && mv -f "$1.$$" "$1" 2>/dev/null && return 0
  rm -f "$1.$$"
  return 1
}

now_us() {
  now=$(date +%s%N 2>/dev/null)
  case $now in
  *[!0-9]* | '') now=$(date +%s)000000 ;;
  *) [ ${#now} -gt 16 ] && now=${now%???} || now=$(date +%s)000000 ;;
  esac
}

# Hundredths of a second since boot; zero where nobody tells, which switches leases off.
uptime_cs() {
  up=0
  [ -r /proc/uptime ] || return 0
  read -r up _ </proc/uptime
  up=${up%.*}${up#*.}
}

who_am_i() {
  host=$(uname -n)
  boot=-
  [ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id
}

# START of a process, which with its number names it for good; empty when there is none.
start_of() { # PID
  start=
  if [ -r /proc/self/stat ]; then
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    set -- ${stat##*) }
    shift 19
    start=$1
  else
    kill -0 "$1" 2>/dev/null && start=-
  fi
}

# Everything of the attempt that lives: by the mark in its environment, and by its session. busybox's
# grep sees a line only up to its first NUL, so there each environment is looked at by itself.
members() { # DIRECTORY LEADER
  [ -r /proc/self/environ ] || return 0
  [ -n "$greps" ] || greps=$(printf 'a\0b' | grep -cF b)
  if [ "$greps" = 1 ]; then
    grep -lF "ATOLL_RUN=$1/." /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ one _; do echo "$one"; done
  else
    for one in /proc/[0-9]*; do
      tr '\0' '\n' 2>/dev/null <"$one/environ" | grep -qxF "ATOLL_RUN=$1/." && echo "${one#/proc/}"
    done 2>/dev/null
  fi
  [ -n "$2" ] && awk -v s="$2" '{ p = $1; sub(/^.*\) /, ""); if ($4 == s && $1 != "Z") print p }' /proc/[0-9]*/stat 2>/dev/null
}

signal_all() { # SIGNAL DIRECTORY LEADER
  [ -n "$3" ] && kill -s "$1" -- "-$3" 2>/dev/null
  living=$(members "$2" "$3")
  [ -n "$living" ] && kill -s "$1" $living 2>/dev/null
  [ "$1" = TERM ] && [ -n "$living" ] && kill -s CONT $living 2>/dev/null
}

# Ends the tree for good: nothing of it lives when this returns, unless the kernel holds it.
kill_all() { # DIRECTORY LEADER
  tries=0
  while :; do
    signal_all KILL "$1" "$2"
    [ -z "$living" ] && break
    tries=$((tries + 1))
    [ $tries -ge 100 ] && break
    sleep 0.1 2>/dev/null || sleep 1
  done
}

# In the attempt's directory: what becomes of one whose wrapper is gone.
end_lost() { # MESSAGE
  leader=
  [ -e run/child ] && read -r leader <run/child
  kill_all "$PWD" "$leader"
  [ -e ended ] && return 0
  now_us
  started=$now
  [ -e run/pid ] && read -r _ _ _ _ started <run/pid
  sizes
  put ended "lost 0 0 $started $now 0 0 $out_bytes $err_bytes 0 1 $1" && rm -f task stdin
}

sizes() {
  out_bytes=0 err_bytes=0
  [ -e out ] && out_bytes=$(wc -c <out) && out_bytes=$((out_bytes))
  [ -e err ] && err_bytes=$(wc -c <err) && err_bytes=$((err_bytes))
}

# The task's own shell: from here on everything has its mark and its session.
be_task() { # ID
  cd "$ROOT/attempts/$1" || exit 125
  run=$PWD
  start_error() {
    put "$run/run/failed" "$1"
    exit 125
  }
  exec >out 2>err
  put run/child "$$" || start_error "nothing can be written to $run: is its disk full?"
  dir= input= script=
  . ./task
  export ATOLL_RUN="$run/."
  if [ -n "$script" ]; then
    line=
    IFS= read -r line <"$run/script"
    case $line in
    '#!'*)
      line=${line#'#!'}
      line=${line#"${line%%[! ]*}"}
      program=${line%%[ 	]*}
      option=${line#"$program"}
      option=${option#"${option%%[! 	]*}"}
      set -- "$program" ${option:+"$option"} "$run/script" "$@"
      ;;
    *) set -- /bin/sh "$run/script" "$@" ;;
    esac
  fi
  cd "${dir:-$HOME}" 2>/dev/null || start_error "the directory ${dir:-$HOME} cannot be entered on $(uname -n): make it there, or name another with --directory"
  if [ -n "$input" ]; then
    [ -r "$input" ] || start_error "its input $input cannot be read on $(uname -n)"
    exec <"$input"
  fi
  found=$(command -v -- "$1" 2>/dev/null)
  if [ -z "$found" ]; then
    case $1 in
    */*) [ -e "$1" ] && { echo "atoll: $1: Permission denied" >&2; exit 126; } ;;
    esac
    echo "atoll: $1: command not found" >&2
    exit 127
  fi
  # What a shell starts in the background ignores these two, and no shell can undo that.
  env --default-signal=INT,QUIT true 2>/dev/null && exec env --default-signal=INT,QUIT "$@"
  exec "$@"
}

# Reads no more than what changed since the last look; the newest line counts.
note_progress() {
  for source in out err "$progress_file"; do
    [ -s "$source" ] || continue
    [ -e run/looked ] && [ ! "$source" -nt run/looked ] && continue
    line=$(tail -c 16384 "$source" 2>/dev/null | tr '\r' '\n' | grep -a -e '# atoll ' -e '# cloudmesh ' | tail -n 1)
    [ -n "$line" ] && now_us && put progress "$now $line"
  done
  : 2>/dev/null >run/looked
}

# Memory of the task and everything below it at this moment, without a process of its own.
tree_kb() { # PID
  while read -r key value _; do
    [ "$key" = VmRSS: ] && kb=$((kb + value)) && break
  done <"/proc/$1/status"
  kids=
  [ -r "/proc/$1/task/$1/children" ] && read -r kids <"/proc/$1/task/$1/children"
  for kid in $kids; do [ -r "/proc/$kid/status" ] && tree_kb "$kid"; done
}

sample_memory() {
  [ -e run/child ] && [ -z "$leader" ] && read -r leader <run/child
  [ -n "$leader" ] && [ -r "/proc/$leader/status" ] || return 0
  kb=0
  tree_kb "$leader" 2>/dev/null
  [ $kb -gt $peak_kb ] && peak_kb=$kb
  [ -n "$memory_kb" ] && [ $kb -gt "$memory_kb" ] && finish memory 0 "it held $kb KiB; its limit is $memory_kb KiB"
}

# The first cause counts; a shorter grace counts also later.
finish() { # CAUSE GRACE_CS MESSAGE
  if [ -z "$cause" ]; then
    cause=$1 message=$3
    signal_all TERM "$PWD" "$leader"
    dead_cs=$((up + $2))
  fi
  [ $((up + $2)) -lt $dead_cs ] && dead_cs=$((up + $2))
  [ "$2" -eq 0 ] && kill_all "$PWD" "$leader"
}

look() {
  uptime_cs
  [ -e run/child ] && [ -z "$leader" ] && read -r leader <run/child
  if [ -n "$asked" ] || [ -z "$cause" -a -e stop ]; then
    asked=
    if read -r wish notice 2>/dev/null <stop; then
      [ -n "$notice" ] && put notice "$notice"
      finish stopped "$wish" ''
    else
      finish stopped "$grace_cs" 'its wrapper was told to end'
    fi
  fi
  [ -n "$wall_cs" ] && [ -z "$cause" ] && [ $((up - up_started)) -ge "$wall_cs" ] && finish wall_time "$grace_cs" ''
  if [ -n "$lease_cs" ] && [ -z "$cause" ] && [ $up -gt 0 ]; then
    { read -r heard <"$ROOT/lease"; } 2>/dev/null && [ -n "$heard" ] && [ "$heard" -gt "$renewed" ] && renewed=$heard
    [ $((up - renewed)) -gt "$lease_cs" ] &&
      finish lost 0 "its server was not heard of for $((lease_cs / 100)) s, so it was ended here, and may be tried elsewhere"
  fi
  [ -z "$cause" ] && sample_memory
  [ -n "$cause" ] && [ $up -ge $dead_cs ] && kill_all "$PWD" "$leader"
  note_progress
}

# Wakes the wrapper; should that be gone, it does its duty.
tick() {
  trap - USR1 TERM
  count=0
  while :; do
    if [ $count -lt 8 ]; then
      count=$((count + 1))
      sleep 0.25 2>/dev/null || sleep 1
    else
      sleep 1
    fi
    kill -s USR1 $$ 2>/dev/null && continue
    sleep 1
    [ -e ended ] || end_lost 'its wrapper was killed'
    exit
  done
}

# 0m1.25s in microseconds.
spent_us() {
  sec=${1#*m}
  sec=${sec%s}
  part=$(printf '%.6s' "${sec#*.}000000")
  us=$(((${1%%m*} * 60 + ${sec%.*}) * 1000000 + 1$part - 1000000))
}

left_files() {
  files=0
  rmdir "$ROOT/$task_dir" 2>/dev/null
  rmdir "$ROOT/$job_dir" 2>/dev/null
  [ -d "$ROOT/$job_dir" ] || return 0
  [ "$task_dir" != "$job_dir" ] && [ -d "$ROOT/$task_dir" ] && files=1
  for one in "$ROOT/$job_dir"/* "$ROOT/$job_dir"/.[!.]*; do
    [ -e "$one" ] || continue
    case ${one##*/} in
    *[!0-9]*) files=1 && break ;;
    *) [ "$task_dir" = "$job_dir" ] && files=1 && break ;;
    esac
  done
}

# The wrapper: begins the task, unless somebody has, and stays until it has written down its end.
# Needs no terminal and no server. In a batch script it is run in the foreground.
be_wrapper() { # ID
  cd "$ROOT/attempts/$1" || exit 1
  mkdir run 2>/dev/null || exit 0
  wall_cs= grace_cs=1000 lease_cs= memory_kb= renewed=0 job_dir= task_dir= progress_file=
  . ./order
  who_am_i
  start_of $$
  uptime_cs
  up_started=$up
  now_us
  started=$now
  cause= message= leader= peak_kb=0 woken= asked= rc= signal=0
  trap 'woken=1' USR1
  trap 'woken=1 asked=1' TERM
  mkdir -p "$ROOT/$task_dir" 2>/dev/null || mkdir -p "$ROOT/$task_dir"
  # Kept free for what has to be written when the task has filled the disk.
  room=
  put run/room_code x && put run/room_end x && put run/pid "$$ $start $host $boot $started" && room=1
  late=
  [ -n "$lease_cs" ] && [ $up -gt 0 ] && [ $((up - renewed)) -gt "$lease_cs" ] && late=1
  if [ -z "$room" ]; then
    rm -f task stdin script run/room_code
    cause=start_error rc=125 message="nothing can be written to $ROOT on $host: make room there"
  elif [ -n "$late" ]; then
    cause=lost rc=0 message='the order came when its lease had run out, so it was not begun'
  elif [ -e stop ]; then
    cause=stopped rc=143
  else
    with=
    command -v setsid >/dev/null 2>&1 && with=setsid
    (
      trap - USR1 TERM
      $with sh "$self" task "$ROOT" "$1" </dev/null >/dev/null 2>&1
      code=$?
      rm -f run/room_code
      times >run/times 2>/dev/null
      put run/rc $code
      exit $code
    ) &
    body=$!
    tick >/dev/null 2>&1 &
    ticker=$!
    while [ ! -e run/rc ]; do
      woken=
      wait $body
      rc=$?
      [ -e run/rc ] && break
      [ -z "$woken" ] && ! kill -0 $body 2>/dev/null && break
      look
    done
    [ -e run/rc ] && read -r rc <run/rc
    kill $ticker 2>/dev/null
  fi
  [ -e run/child ] && read -r leader <run/child
  if [ -n "$leader" ]; then kill_all "$PWD" "$leader"; fi
  write_end
}

write_end() {
  uptime_cs
  ended=$((started + (up - up_started) * 10000))
  [ $up -eq 0 ] && now_us && ended=$now
  note_progress
  cpu=0
  if [ -e run/times ]; then
    { read -r _ && read -r user system; } <run/times
    spent_us "$user" && cpu=$us
    spent_us "$system" && cpu=$((cpu + us))
  fi
  if [ -z "$cause" ] && [ -e run/failed ]; then
    cause=start_error
    read -r message <run/failed
  fi
  if [ -z "$cause" ] && [ "$rc" -eq 125 ] && [ ! -e run/child ]; then
    cause=start_error message="nothing can be written to $ROOT on $host: make room there"
  fi
  if [ -z "$cause" ]; then
    cause=exited
    [ "$rc" -gt 128 ] && [ "$rc" -le 192 ] && cause=signalled
  fi
  [ "$rc" -gt 128 ] && [ "$rc" -le 192 ] && signal=$((rc - 128))
  noted=0
  [ -e "$ROOT/$task_dir/checkpointed" ] && noted=1
  left_files
  sizes
  rm -f run/room_end
  line="$cause $rc $signal $started $ended $cpu $((peak_kb * 1024)) $out_bytes $err_bytes $noted $files $message"
  until put ended "$line"; do sleep 5; done
  rm -f task stdin run/times run/looked # secrets do not stay
}
