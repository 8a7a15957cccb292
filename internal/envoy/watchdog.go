package envoy

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/meshproof/meshproof/internal/children"
)

// watchdogScript reads its standard input, a pipe whose other end only this process holds. The line "done" says that there is
// nothing to do. The line "ended" says that Envoy must not be killed, because another process may have its process ID. The end
// of the input without "done" says that this process has died.
const watchdogScript = `
what=$1
while read -r line; do
	[ "$line" = done ] && exit 0
	what=$line
done
case $what in
process) kill -KILL "$2" ;;
container)
	docker rm --force --volumes "$2" ||
	curl --silent --request DELETE --unix-socket "${DOCKER_HOST#unix://}" "http://docker/containers/$2?force=true&v=true" ;;
esac
rm -rf "$3"
`

// watchdog is a shell that cleans up after this process. It has a session of its own, so that no signal of a terminal reaches it.
type watchdog struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// watchProcess starts a watchdog for a child process. When the child has ended, the watchdog must be told. The first process of a
// container needs no watchdog, and may have no shell: everything ends with it.
func watchProcess(pid int, dir *runDir) (*watchdog, error) {
	if os.Getpid() == 1 {
		return nil, nil
	}
	return startWatchdog(nil, "process", strconv.Itoa(pid), dir.path)
}

// watchContainer starts a watchdog for a container. It has the name of the container, which need not exist yet.
func watchContainer(name, dockerHost, dir string) (*watchdog, error) {
	return startWatchdog([]string{"DOCKER_HOST=" + dockerHost}, "container", name, dir)
}

func startWatchdog(env []string, args ...string) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", watchdogScript, "meshproof-watchdog"}, args...)...)
	cmd.Dir = "/"
	cmd.Env = append(cmd.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = children.Start(cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, stdin: stdin}, nil
}

// ended tells the watchdog that only the directory is left.
func (w *watchdog) ended() { _, _ = io.WriteString(w.stdin, "ended\n") }

// dismiss tells the watchdog that there is nothing to do, and waits until it has ended. An error says that it had ended before,
// which does not matter then. It does nothing without a watchdog.
func (w *watchdog) dismiss() {
	if w == nil {
		return
	}
	_, _ = io.WriteString(w.stdin, "done\n")
	_ = w.cmd.Wait()
	children.Forget(w.cmd)
}

// newTail returns a writer that keeps the last lines of Envoy's log, and writes everything to next, which is
// optional.
func newTail(next io.Writer) *children.Tail {
	return &children.Tail{Most: 20, LineSize: tailLineSize, Next: next}
}

const tailLineSize = 2048 // bytes

// logPrefix is the text before a message of Envoy: [time][thread][level][component] [source].
var logPrefix = regexp.MustCompile(`^(\[[^\]]*\])+ (\[[^\]]*\] )?`)

// telling returns the line that says most about the end: the last critical line, else the last error, else the last line
// that is no warning. A warning of the start says nothing about the end.
func telling(lines []string) string {
	best, bestRank := "", -1
	for i, line := range lines {
		rank := 0
		switch {
		case strings.Contains(line, "][warning]"):
			continue
		case strings.Contains(line, "][critical]"):
			rank = 2
		case strings.Contains(line, "][error]"):
			rank = 1
		}
		if rank < bestRank {
			continue
		}
		bestRank = rank
		best = line
		// A message of several lines goes on until the next prefix.
		for _, more := range lines[i+1:] {
			if rank == 0 || logPrefix.MatchString(more) || len(best) > tailLineSize {
				break
			}
			best += " " + more
		}
	}
	return oneLine(logPrefix.ReplaceAllString(best, ""))
}
