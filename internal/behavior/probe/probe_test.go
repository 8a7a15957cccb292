package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/messages"
)

// fakeEnvoy answers requests on a connection with the given statuses, in order.
func fakeEnvoy(t *testing.T, statuses ...int) io.ReadWriter {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	go func() {
		defer theirs.Close()
		reader := bufio.NewReader(theirs)
		for _, status := range statuses {
			if _, err := http.ReadRequest(reader); err != nil {
				return
			}
			fmt.Fprintf(theirs, "HTTP/1.1 %d %s\r\ncontent-length: 2\r\n\r\nok", status, http.StatusText(status))
		}
	}()
	return ours
}

// An Envoy that answers the other way has the other behaviour.
func TestAsk(t *testing.T) {
	t.Parallel()
	fixed := behavior.Set{}
	for name, tt := range map[string]struct {
		statuses []int
		want     behavior.Set
		err      string
	}{
		"all fixes":            {[]int{403, 200, 403, 403, 403, 403, 403}, fixed, ""},
		"dot parameters":       {[]int{403, 200, 200, 403, 403, 403, 403}, fixed.Change(behavior.DotParameters, false), ""},
		"header lines":         {[]int{403, 200, 403, 200, 403, 403, 403}, fixed.Change(behavior.HeaderLines, false), ""},
		"bytes of a regex":     {[]int{403, 200, 403, 403, 200, 403, 403}, fixed.Change(behavior.RegexBytes, false), ""},
		"lines in a route":     {[]int{403, 200, 403, 403, 403, 200, 403}, fixed.Change(behavior.RouteLines, false), ""},
		"a caller's duration":  {[]int{403, 200, 403, 403, 403, 403, 200}, fixed.Change(behavior.StreamDuration, false), ""},
		"it lets all pass":     {[]int{200, 200, 200, 200, 200}, fixed, "control /refused: the RBAC filter does not do what its rules say"},
		"it refuses all":       {[]int{403, 403, 403, 403, 403}, fixed, "control /: the RBAC filter does not do what its rules say"},
		"another answer":       {[]int{403, 200, 403, 400, 403}, fixed, "headerLines: the answer is 400, neither 200 nor 403"},
		"the connection ends":  {[]int{403, 200, 403}, fixed, "headerLines: "},
		"no answer at the end": {[]int{403, 200, 403, 403}, fixed, "regexBytes: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Ask(fakeEnvoy(t, tt.statuses...))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), "probe: ask Envoy how it behaves: "+tt.err) {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v, want %v", got.Answers(), err, tt.want.Answers())
			}
		})
	}
}

func TestChainIsValid(t *testing.T) {
	t.Parallel()
	if err := messages.Validate(Chain()); err != nil {
		t.Error(err)
	}
}
