# Stands in for `java` where Surefire starts the JVM of the tests.
#
# It writes down what it was started with, and answers as a JVM that had no test to run, so that
# the build goes on. Anything else than Surefire's own start goes to the real `java`.
# Three variables are set before this text: `captures`, `fallback`, `goodbye`.

# The JVM of Maven itself is what Surefire would have used.
real=
ancestor=$PPID
while [ -r "/proc/$ancestor/stat" ] && [ "$ancestor" -gt 1 ]; do
    image=$(readlink "/proc/$ancestor/exe")
    case "$image" in
        */bin/java) real=$image; break ;;
    esac
    ancestor=$(sed 's/^.*) [A-Za-z] //; s/ .*//' "/proc/$ancestor/stat")
done
[ -n "$real" ] || real=$fallback

case "$*" in
    *surefire*tmp*) ;;
    *) exec "$real" "$@" ;;
esac

record=$captures/$$
mkdir -p "$record/files"
printf '%s' "$real" > "$record/java"
pwd > "$record/folder"
if [ -r /proc/self/environ ]; then
    # The shell adds nothing to what it was given here.
    cat "/proc/$$/environ" > "$record/environment"
else
    env | tr '\n' '\0' > "$record/environment"
fi
folder=
for argument in "$@"; do
    printf '%s\0' "$argument" >> "$record/arguments"
    file=${argument#@}
    [ -d "$file" ] && folder=$file
    [ -f "$file" ] || file=$folder/$file
    case "$file" in
        *.jar) ;;
        *) [ -f "$file" ] && cp "$file" "$record/files/" ;;
    esac
done

# Each version of Surefire has its own words for the end.
api=$(cat "$record"/files/* | sed -n 's/^surefireClassPathUrl\.[0-9]*=.*surefire-api-\(.*\)\.jar$/\1/p')
farewell() {
    case "$api" in
        1.* | 2.*) printf 'Z,0,BYE!\n' ;;
        3.0.0-M[1-4]) printf ':maven:surefire:std:out:bye\n' ;;
        3.0.0-M5) printf ':maven-surefire-event:bye:\n' ;;
        *) printf ':maven-surefire-event:\003:bye:\n' ;;
    esac
}

# It listens on standard output, or on a port if the project says so.
line=$(cat "$record"/files/* | sed -n 's/^forkNodeConnectionString=//p' | tr -d '\\')
case "$line" in
    tcp://*)
        address=${line#tcp://}
        session=${address##*=}
        address=${address%%\?*}
        classes=$record/goodbye
        mkdir "$classes"
        "$(dirname "$real")/javac" -d "$classes" "$goodbye" &&
            farewell | "$real" -cp "$classes" Goodbye "${address%:*}" "${address##*:}" "$session"
        ;;
    *) farewell ;;
esac
# Complete only with this file: the build may be killed at any moment.
: > "$record/complete"
exit 0
