package plugin

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy/language"
)

// TestFailuresThatEndTheCompiler has failures that end the compiler. Each further request gets the same error.
func TestFailuresThatEndTheCompiler(t *testing.T) {
	t.Parallel()
	first := strings.Repeat("x", 100)
	for name, tt := range map[string]struct {
		command      []string
		answer, want string
		is           error
		stderr       []string
	}{
		"no JSON":       {answer: `debug: ` + first, want: `bad answer: it is not JSON: "debug: ` + first[:80-7] + `"…`, is: ErrAnswer},
		"no line":       {answer: ` `, want: `bad answer: it is not JSON: " "`, is: ErrAnswer},
		"two values":    {answer: `{"id": ID, "filters": {}} {}`, want: `bad answer: it is not JSON: "{\"id\": 1, \"filters\": {}} {}"`, is: ErrAnswer},
		"a list":        {answer: `[ID]`, want: `bad answer: want an object, got "[1]"`, is: ErrAnswer},
		"no id":         {answer: `{"filters": {}}`, want: `bad answer: id is missing: want the whole number of a request`, is: ErrAnswer},
		"id is text":    {answer: `{"id": "ID", "filters": {}}`, want: `bad answer: id: want the whole number of a request, got "\"1\""`, is: ErrAnswer},
		"id is null":    {answer: `{"id": null, "filters": {}}`, want: `bad answer: id: want the whole number of a request, got "null"`, is: ErrAnswer},
		"id is half":    {answer: `{"id": ID.5, "filters": {}}`, want: `bad answer: id: want the whole number of a request, got "1.5"`, is: ErrAnswer},
		"id twice":      {answer: `{"id": ID, "id": ID, "filters": {}}`, want: `bad answer: field "id" appears twice`, is: ErrAnswer},
		"unknown id":    {answer: `{"id": 17, "filters": {}}`, want: `bad answer: id: no request 17 waits for an answer`, is: ErrAnswer},
		"greeting's id": {answer: `{"id": 0, "filters": {}}`, want: `bad answer: id: no request 0 waits for an answer`, is: ErrAnswer},
		"crash":         {command: helper("crash"), want: "it ended: exit status 3", is: ErrEnded, stderr: []string{"line 11", "line 12", "line 13", "line 14", "line 15", "line 16", "line 17", "line 18", "line 19", "last \uFFFD[31mwords\uFFFD"}},
		"flood":         {command: helper("flood"), want: "bad answer: a line is longer than 64 MiB", is: ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := tt.command
			if command == nil {
				command = helper("parrot")
			}
			c := start(t, command)
			_, err := c.Compile(t.Context(), backend, dialecttest.Documents(t, "answer: "+strconv.Quote(tt.answer)), language.Options{})
			var broken *Error
			if !errors.As(err, &broken) || !errors.Is(err, tt.is) {
				t.Fatalf("got %v, want %v", err, tt.is)
			}
			want := &Error{Command: strings.Join(command, " "), Asked: "backend/http-port under p.yaml:1", Stderr: tt.stderr}
			if diff := cmp.Diff(want, broken, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Err" }, cmp.Ignore())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if broken.Err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", broken.Err, tt.want)
			}
			if _, again := c.Compile(t.Context(), backend, nil, language.Options{}); again != err {
				t.Errorf("then %v, want the first error", again)
			}
			if closed := c.Close(); closed != err {
				t.Errorf("Close: %v, want the first error", closed)
			}
			if c.cmd.ProcessState == nil {
				t.Error("the process was not waited for")
			}
		})
	}
}

func TestGreeting(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command []string
		want    string
		is      error
	}{
		"no JSON":          {helper("say", "ready"), `bad answer: the greeting: it is not JSON: "ready"`, ErrAnswer},
		"no object":        {helper("say", "1"), `bad answer: the greeting: want an object, got "1"`, ErrAnswer},
		"not UTF-8":        {helper("say", `{"protocol": 1, "name": "`+"\xff"+`"}`), `bad answer: the greeting: it is not UTF-8`, ErrAnswer},
		"no protocol":      {helper("say", `{"name": "a"}`), `bad answer: the greeting: protocol is missing: want a whole number`, ErrAnswer},
		"text":             {helper("say", `{"protocol": "1", "name": "a"}`), `bad answer: the greeting: protocol: want a whole number, got "\"1\""`, ErrAnswer},
		"another version":  {helper("say", `{"protocol": 3, "called": "a"}`), `bad answer: the greeting: protocol: it speaks version 3, want 1 or 2`, ErrAnswer},
		"no name":          {helper("say", `{"protocol": 1}`), `bad answer: the greeting: name is missing: want text`, ErrAnswer},
		"empty name":       {helper("say", `{"protocol": 1, "name": ""}`), `bad answer: the greeting: name is empty: want the name of the compiler`, ErrAnswer},
		"version":          {helper("say", `{"protocol": 1, "name": "a", "version": 2}`), `bad answer: the greeting: version: want text, got "2"`, ErrAnswer},
		"unknown field":    {helper("say", `{"protocol": 1, "name": "a", "url": "b"}`), `bad answer: the greeting: unknown field "url": there are protocol, name, version`, ErrAnswer},
		"end":              {Shell("echo 'no module named mesh' >&2; exit 1"), "it ended: exit status 1", ErrEnded},
		"end without text": {Shell("true"), "it ended: exit status 0", ErrEnded},
		"not found":        {Shell("no-such-compiler"), "it ended: exit status 127", ErrEnded},
		"no program":       {[]string{"no-such-compiler"}, `start: exec: "no-such-compiler": executable file not found in $PATH`, exec.ErrNotFound},
		"no command":       {nil, "start: executable file not found in $PATH", exec.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Start(t.Context(), tt.command, Options{})
			if err == nil {
				t.Fatal("it started", c.Close())
			}
			if errors.Is(tt.is, ErrAnswer) {
				tt.want += `: the first line of a compiler is as in {"protocol": 1, "name": "mine", "version": "1"}, see docs/compilers.md`
			}
			var broken *Error
			if !errors.As(err, &broken) || !errors.Is(err, tt.is) || broken.Err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
			if name == "end" && err.Error() != "plugin: compiler \"echo 'no module named mesh' >&2; exit 1\": it ended: exit status 1\n\tstderr: no module named mesh" {
				t.Errorf("got %s", err)
			}
		})
	}
}

// TestCompilerThatSaysNothing has a compiler without a greeting, and a compiler that hangs later.
func TestCompilerThatSaysNothing(t *testing.T) {
	t.Parallel()
	if _, err := Start(t.Context(), Shell("cat >/dev/null"), Options{Timeout: 50 * time.Millisecond}); !errors.Is(err, ErrSilent) || !strings.HasSuffix(err.Error(), "it hangs: no answer for 50ms") {
		t.Errorf("got %v", err)
	}
	c, waitEnded := startHanging(t, context.Background())
	c.mu.Lock()
	c.timeout = 50 * time.Millisecond
	c.mu.Unlock()
	// The requests are longer than the buffer of a pipe, because the compiler does not
	// read them.
	long := dialecttest.Documents(t, "text: "+strings.Repeat("x", 1<<20))
	errs := make([]error, 4)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() { _, errs[i] = c.Compile(t.Context(), backend, long, language.Options{}) })
	}
	asking.Wait()
	for _, err := range errs {
		if !errors.Is(err, ErrSilent) || err != errs[0] || !strings.Contains(err.Error(), "asked for backend/http-port under p.yaml:1: it hangs: no answer for 50ms") {
			t.Errorf("got %v", err)
		}
	}
	waitEnded()
}

// TestClosedOutput shows that a compiler that only closes its output is ended, with its
// child.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	c, waitEnded := startHanging(t, context.Background(), "close")
	_, err := c.Compile(t.Context(), backend, nil, language.Options{})
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "it ended: it closed its output") {
		t.Errorf("got %v", err)
	}
	waitEnded()
}

// TestNothingIsLeft shows that Close, or the end of the context, ends a compiler that
// hangs, and its child.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		c, waitEnded := startHanging(t, context.Background())
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if _, err := c.Compile(t.Context(), backend, nil, language.Options{}); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		waitEnded()
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		c, waitEnded := startHanging(t, ctx)
		cancel()
		waitEnded()
		if _, err := c.Compile(t.Context(), backend, nil, language.Options{}); !errors.Is(err, ErrClosed) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("never started", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Start(ctx, helper("reference", "1"), Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// TestCancelledRequest shows that the end of a request's context is no error of the
// compiler. The late answer is dropped. Close ends open requests.
func TestCancelledRequest(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	c := start(t, helper("late", listener.Addr().String()))
	ask := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := c.Compile(ctx, backend, nil, language.Options{})
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := ask(ctx)
	received := accept(t, listener)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) || isBroken(err) || err.Error() != `plugin: compiler "`+c.command+`", asked for backend/http-port: context canceled` {
		t.Errorf("the cancelled request got %v", err)
	}
	second := ask(context.Background())
	received() // the compiler answers the first
	received = accept(t, listener)
	received()
	if err := <-second; err == nil || err.Error() != "refused 2" || isBroken(err) {
		t.Errorf("got %v", err)
	}
	third := ask(context.Background())
	received = accept(t, listener)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-third; !errors.Is(err, ErrClosed) || !isBroken(err) {
		t.Errorf("the open request got %v", err)
	}
	received()
	if _, err := c.Compile(ctx, backend, nil, language.Options{}); err == nil {
		t.Error("a closed compiler compiled")
	}
}

// TestAnyOrder answers the requests in another order.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	c := start(t, helper("backwards"))
	got := map[string]bool{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			_, err := c.Compile(t.Context(), backend, nil, language.Options{})
			if err == nil || isBroken(err) {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[err.Error()] = true
		})
	}
	asking.Wait()
	if diff := cmp.Diff(map[string]bool{"refused 1": true, "refused 2": true, "refused 3": true, "refused 4": true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestCompilerThatWritesMuchToStandardError has a compiler that writes much to standard error.
func TestCompilerThatWritesMuchToStandardError(t *testing.T) {
	t.Parallel()
	c := start(t, helper("noise"))
	for range 3 {
		if _, err := c.Compile(t.Context(), backend, nil, language.Options{}); err != nil {
			t.Error(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if lines := printableLines(c.stderr); len(lines) != 1 || len(lines[0]) > tailLineSize {
		t.Errorf("%d lines were kept", len(lines))
	}
}

// startHanging starts a compiler that greets and hangs, with a child that hangs too. The
// function that it returns waits until both have ended.
func startHanging(t *testing.T, ctx context.Context, how ...string) (c *Compiler, waitEnded func()) {
	t.Helper()
	listener := listen(t)
	c, err := Start(ctx, helper("hang", append([]string{listener.Addr().String()}, how...)...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	compiler, child := acceptConn(t, listener), acceptConn(t, listener)
	return c, func() {
		waitClosed(compiler)
		waitClosed(child)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func acceptConn(t *testing.T, listener net.Listener) net.Conn {
	t.Helper()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// waitClosed waits until the other side has closed the connection.
func waitClosed(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// accept accepts a connection and returns the function that closes it.
func accept(t *testing.T, listener net.Listener) func() {
	t.Helper()
	conn := acceptConn(t, listener)
	return func() { _ = conn.Close() }
}
