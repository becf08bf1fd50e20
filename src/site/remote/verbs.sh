# What the server asks of a machine, one verb per exchange; the lines behind wrapper.sh.

launch() { # ID
  if command -v setsid >/dev/null 2>&1; then
    setsid sh "$self" run "$ROOT" "$1" </dev/null >/dev/null 2>&1 &
  else
    nohup sh "$self" run "$ROOT" "$1" </dev/null >/dev/null 2>&1 &
  fi
}

# Unpacks the orders that come as a tar archive with a directory for each; `count` of them, or none
# is taken. What is known already is left as it is.
place() { # COUNT BEGIN
  mkdir -p "$ROOT/attempts" "$ROOT/jobs" "$ROOT/kept" || exit 3
  in=$ROOT/in.$$
  mkdir "$in" && cd "$in" || exit 3
  tar xf - || { cd "$ROOT" && rm -rf "$in"; exit 3; }
  set -- "$1" "$2" *
  count=$1 begin=$2
  shift 2
  [ $# -eq "$count" ] || { cd "$ROOT" && rm -rf "$in"; echo "$# of $count orders came" >&2; exit 3; }
  for id in "$@"; do
    there=$ROOT/attempts/$id
    [ -d "$ROOT/kept/${id%%.*}/$id" ] && continue
    mkdir "$there" 2>/dev/null
    [ -d "$there/run" ] && continue
    mv -f "$in/$id"/* "$there/" || exit 3
    [ -n "$begin" ] && launch "$id"
  done
  cd "$ROOT" && rm -rf "$in"
}

# One line per attempt: Ended, Running, Beginning or Placed; G has its newest progress.
tell() { # ID
  cd "$ROOT/attempts/$1" 2>/dev/null || return 0
  if [ ! -e ended ] && [ -e run/pid ]; then
    read -r pid was its_host its_boot since <run/pid
    if [ "$its_host" = "$host" ]; then
      start_of "$pid"
      alive=1
      [ "$start" != "$was" ] || [ "$its_boot" != "$boot" ] && alive=
      [ -z "$alive" ] && [ ! -e ended ] && sleep 0.2 2>/dev/null
      [ -z "$alive" ] && [ ! -e ended ] && end_lost 'its wrapper was ended, or the machine was restarted'
    fi
  fi
  if [ -e ended ]; then
    read -r line <ended && echo "E $1 $line"
  elif [ -e run/pid ]; then
    echo "R $1 $since"
  elif [ -d run ]; then
    echo "B $1"
  else
    echo "P $1"
  fi
  [ -e progress ] && read -r line <progress && echo "G $1 $line"
}

renew() { # RENEWED
  who_am_i
  uptime_cs
  now_us
  heard=0
  { read -r heard <"$ROOT/lease"; } 2>/dev/null
  # On a full disk the file that is there is written over.
  [ "$1" -gt "${heard:-0}" ] && { put "$ROOT/lease" "$1" || echo "$1" >"$ROOT/lease"; } 2>/dev/null
  echo "N $up $now $boot"
}

poll() { # RENEWED
  renew "$1"
  for one in "$ROOT"/attempts/*; do
    [ -d "$one" ] && tell "${one##*/}"
  done
  return 0
}

# One wish per line of stdin: ID GRACE_CS NOTICE. U is said of those that nobody knows.
stop() {
  who_am_i
  while read -r id grace notice; do
    cd "$ROOT/attempts/$id" 2>/dev/null || { echo "U $id" && continue; }
    [ -e ended ] && continue
    put stop "$grace $notice"
    if mkdir run 2>/dev/null; then
      now_us
      put ended "stopped 143 15 $now $now 0 0 0 0 0 0" && rm -f task stdin
    elif [ -e run/pid ]; then
      read -r pid was its_host _ <run/pid
      [ "$its_host" = "$host" ] || continue
      start_of "$pid"
      [ "$start" = "$was" ] && kill -s TERM "$pid"
    fi
  done
  return 0
}

forget() {
  while read -r id; do
    [ -e "$ROOT/attempts/$id/ended" ] || continue
    mkdir -p "$ROOT/kept/${id%%.*}" && mv "$ROOT/attempts/$id" "$ROOT/kept/${id%%.*}/$id"
  done
  return 0
}

purge() { # JOB
  for one in "$ROOT/attempts/$1".*; do [ -e "$one/ended" ] && rm -rf "$one"; done
  rm -rf "$ROOT/kept/$1" "$ROOT/jobs/$1"
}

logs() { # ID STREAM OFFSET MAX
  # It may be forgotten, and so move from one place to the other, at any moment.
  here=$ROOT/attempts/$1
  kept=$ROOT/kept/${1%%.*}/$1
  for file in "$here/$2" "$kept/$2"; do
    [ -e "$file" ] || continue
    size=$(wc -c <"$file") 2>/dev/null || continue
    echo $((size))
    [ -e "$file" ] || file=$kept/$2
    [ "$3" -lt $((size)) ] && tail -c "+$(($3 + 1))" "$file" | head -c "$4"
    exit 0
  done
  # What said nothing has no file.
  for directory in "$here" "$kept"; do
    [ -e "$directory" ] && echo 0 && exit 0
  done
  exit 4
}

probe() {
  who_am_i
  uptime_cs
  now_us
  mkdir -p "$ROOT" || exit 3
  put "$ROOT/.probe" x || exit 3
  rm -f "$ROOT/.probe"
  echo "host $host"
  echo "root $(cd "$ROOT" && pwd)"
  echo "home $HOME"
  echo "user $(id -un 2>/dev/null)"
  echo "N $up $now $boot"
  echo "cores $(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
  while read -r key value _; do
    [ "$key" = MemTotal: ] && echo "memory_kb $value"
  done 2>/dev/null </proc/meminfo
  df -Pk "$ROOT" 2>/dev/null | { read -r _ && read -r _ _ _ free _ && echo "scratch_kb $free"; }
  for tool in setsid sha256sum rsync; do command -v $tool >/dev/null 2>&1 && echo "has $tool"; done
  command -v nvidia-smi >/dev/null 2>&1 &&
    nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader,nounits 2>/dev/null |
    while IFS= read -r line; do echo "gpu $line"; done
  exit 0
}

case $verb in
task) be_task "$@" ;;
run) be_wrapper "$@" ;;
place) place "$@" ;;
renew) renew "$@" ;;
poll) poll "$@" ;;
stop) stop ;;
forget) forget ;;
purge) purge "$@" ;;
logs) logs "$@" ;;
probe) probe ;;
end)
  cd "$ROOT/attempts/$1" && end_lost "$2"
  ;;
*)
  echo "unknown verb $verb" >&2
  exit 2
  ;;
esac
