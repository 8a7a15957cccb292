package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// wire is a DevTools connection over a pair of pipes. A zero byte ends each JSON message.
// One goroutine uses it.
type wire struct {
	t       testing.TB
	in      io.Writer
	out     *bufio.Reader
	session string
	last    int
	// events are the events that arrived before a reply.
	events []string
}

// message is a command, its reply, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// start starts a browser that takes commands. It ends with the test.
func start(t testing.TB) *wire {
	t.Helper()
	// The context of the test ends before its cleanup, and the cleanup closes the browser.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	cmd := chromium(ctx, t, "--remote-debugging-pipe", "--window-size=1280,800", "about:blank")
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, replies, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{commands, replies} // Chromium reads from 3 and writes to 4
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Start()
	commands.Close()
	replies.Close()
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		w.session = ""
		w.call("Browser.close", nil, nil)
		err := cmd.Wait() // waits for all its processes, so that the profile can be removed
		in.Close()
		out.Close()
		if err != nil {
			t.Errorf("%s: %v\n%s", cmd.Path, err, &stderr)
		}
	})
	return w
}

// call sends a command and decodes its result, unless that is nil.
func (w *wire) call(method string, params map[string]any, result any) {
	w.t.Helper()
	w.last++
	text, err := json.Marshal(message{ID: w.last, Session: w.session, Method: method, Params: params})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in.Write(append(text, 0)); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := w.read(method)
		switch {
		case m.ID != w.last:
			w.events = append(w.events, m.Method)
		case m.Error != nil:
			w.t.Fatalf("%s: %s", method, m.Error.Message)
		case result == nil:
			return
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				w.t.Fatalf("%s: %v", method, err)
			}
			return
		}
	}
}

// await waits for an event. Earlier events count until the list of events is cleared.
func (w *wire) await(event string) {
	w.t.Helper()
	for {
		for i, e := range w.events {
			if e == event {
				w.events = w.events[i+1:]
				return
			}
		}
		if m := w.read(event); m.ID == 0 {
			w.events = append(w.events, m.Method)
		}
	}
}

// read reads the next message. A log entry of the page fails the test.
func (w *wire) read(waiting string) message {
	w.t.Helper()
	text, err := w.out.ReadBytes(0)
	if err != nil {
		w.t.Fatalf("%s: the browser ended: %v", waiting, err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		w.t.Fatal(err)
	}
	switch {
	case strings.HasPrefix(m.Method, "Runtime.consoleAPI"), m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded":
		w.t.Errorf("the page logs %s", text)
	}
	return m
}
