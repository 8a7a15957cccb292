package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/meshproof/meshproof/internal/inspection"
	"github.com/meshproof/meshproof/policy/language"
)

var inspected = filepath.Join(root, "policy", "kuma", "internal", "inspect", "testdata", "mesh")

// served is a running meshproof inspect serve.
type served struct {
	cmd    *exec.Cmd
	url    string
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// inspectServe returns when the server has printed its URL.
func inspectServe(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{cmd: exec.Command("meshproof", append([]string{"inspect", "serve"}, args...)...)}
	s.cmd.Env = append(os.Environ(), surroundings(t)...)
	s.cmd.Dir = root
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	s.stdout = bufio.NewReader(out)
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("no URL was printed: %v\n%s", err, &s.stderr)
	}
	s.url = strings.TrimSpace(line)
	return s
}

// stop interrupts it and returns the exit status.
func (s *served) stop(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(s.stdout); err != nil || len(rest) > 0 {
		t.Errorf("it also printed %q: %v", rest, err)
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func TestInspectServe(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{"interrupted": os.Interrupt, "terminated": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inspectServe(t, filepath.Join("policy", "kuma", "internal", "inspect", "testdata", "mesh"), "--listen", "127.0.0.1:0")
			if !regexp.MustCompile(`^http://127\.0\.0\.1:[1-9][0-9]*$`).MatchString(s.url) {
				t.Errorf("it prints %q", s.url)
			}
			res, err := http.Get(s.url + "/meshes/default/dataplanes/backend/_inbounds/kri_dp_default___backend_http-port/_policies")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var got struct{ Policies []struct{ Rules []any } }
			if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %v", res.StatusCode, err)
			}
			if len(got.Policies) != 1 || len(got.Policies[0].Rules) != 3 {
				t.Errorf("it answers %+v", got)
			}
			if status := s.stop(t, signal); status != exitInterrupted {
				t.Errorf("exit status %d, want %d", status, exitInterrupted)
			}
			if want := "meshproof: interrupted; everything that was started is gone\n"; s.stderr.String() != want {
				t.Errorf("it says %q, want %q", &s.stderr, want)
			}
			if conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://")); err == nil {
				conn.Close()
				t.Error("the port is still in use")
			}
		})
	}
}

// TestInspectBeyondTheMachine shows the line of a server that others may reach.
func TestInspectBeyondTheMachine(t *testing.T) {
	t.Parallel()
	s := inspectServe(t, filepath.Join("policy", "kuma", "internal", "inspect", "testdata", "mesh"), "--listen", "0.0.0.0:0")
	if status := s.stop(t, os.Interrupt); status != exitInterrupted {
		t.Errorf("exit status %d, want %d", status, exitInterrupted)
	}
	want := "meshproof: note: " + strings.TrimPrefix(s.url, "http://") + " is not on loopback: whoever reaches it reads the policies, since no client is authenticated\n"
	if !strings.HasPrefix(s.stderr.String(), want) {
		t.Errorf("it says %q, want %q", &s.stderr, want)
	}
}

func TestInspectPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var stdout, stderr bytes.Buffer
	status := execute(t.Context(), []string{"inspect", "serve", inspected, "--listen", taken.Addr().String()}, &stdout, &stderr)
	want := "meshproof: inspect: listen tcp " + taken.Addr().String() + ": bind: address already in use: choose another address with --listen\n"
	if status != exitMachine || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit status %d, it says %q, want %d and %q", status, &stderr, exitMachine, want)
	}
}

// tryServe runs a documented command that serves until it is interrupted.
func tryServe(t *testing.T, args []string) {
	t.Helper()
	if !slices.Contains(args, "--listen") {
		args = append(slices.Clone(args), "--listen", "127.0.0.1:0")
	}
	if status := inspectServe(t, args...).stop(t, os.Interrupt); status != exitInterrupted {
		t.Errorf("exit status %d, want %d", status, exitInterrupted)
	}
}

// tryFetch fetches the URL of a documented curl command from the folder in the documents.
func tryFetch(t *testing.T, target string) {
	t.Helper()
	files, err := inspection.Open(inspected)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := inspection.Handler(files, language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(target)
	if err != nil || to.Host != "127.0.0.1:5681" {
		t.Fatalf("no server answers at %s: %v", target, err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, to.RequestURI(), nil))
	if w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
