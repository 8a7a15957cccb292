package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// Page is a page in its own browser, 1280 by 800 pixels. Tests use it with mouse and
// keyboard, as a reader would. One goroutine uses it, and it closes with its test.
type Page struct{ wire *wire }

// Open loads a page and waits for its load event.
func Open(t testing.TB, url string) *Page {
	t.Helper()
	p := &Page{wire: start(t)}
	var target struct {
		ID string `json:"targetId"`
	}
	p.wire.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		Session string `json:"sessionId"`
	}
	p.wire.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	p.wire.session = attached.Session
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.wire.call(domain+".enable", nil, nil)
	}
	p.wire.events = nil
	p.wire.call("Page.navigate", map[string]any{"url": url}, nil)
	p.wire.await("Page.loadEventFired")
	return p
}

// Reload loads the page again from its present address.
func (p *Page) Reload() {
	p.wire.t.Helper()
	p.wire.events = nil
	p.wire.call("Page.reload", nil, nil)
	p.wire.await("Page.loadEventFired")
}

// Eval returns the value of a JavaScript expression as a string. It awaits a promise. An
// expression that throws fails the test.
func (p *Page) Eval(expression string) string {
	p.wire.t.Helper()
	var got struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	p.wire.call("Runtime.evaluate", map[string]any{
		"expression": "(async () => String(await (" + expression + ")))()", "awaitPromise": true, "returnByValue": true,
	}, &got)
	if got.Exception != nil {
		p.wire.t.Fatalf("%s: %s", expression, got.Exception.Exception.Description)
	}
	return got.Result.Value
}

// Want waits until a JavaScript expression has the wanted value. It evaluates the
// expression with each frame of the page, for at most five seconds.
func (p *Page) Want(expression, want string) {
	p.wire.t.Helper()
	got := p.Eval(fmt.Sprintf(`new Promise((done) => {
		const until = performance.now() + 5000;
		const look = () => {
			const got = String(%s);
			if (got === %q || performance.now() > until) done(got);
			else requestAnimationFrame(look);
		};
		look();
	})`, expression, want))
	if got != want {
		p.wire.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// Click scrolls to the first element of a CSS selector and clicks in its middle. It fails
// the test when there is no such element, or when another element covers it.
func (p *Page) Click(selector string) {
	p.wire.t.Helper()
	var point struct{ X, Y float64 }
	text := p.Eval(fmt.Sprintf(`(() => {
		const el = document.querySelector(%q);
		if (!el) return "it is not there";
		el.scrollIntoView({ block: "center", behavior: "instant" });
		const box = el.getClientRects()[0];
		if (!box) return "it is not shown";
		const x = box.x + box.width / 2, y = box.y + box.height / 2, top = document.elementFromPoint(x, y);
		return el.contains(top) ? x + " " + y : "it lies under " + top?.outerHTML;
	})()`, selector))
	if n, err := fmt.Sscan(text, &point.X, &point.Y); err != nil || n != 2 {
		p.wire.t.Fatalf("click %s: %s", selector, text)
	}
	for _, event := range []string{"mousePressed", "mouseReleased"} {
		p.wire.call("Input.dispatchMouseEvent", map[string]any{"type": event, "x": point.X, "y": point.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Type inserts a text into the focused element.
func (p *Page) Type(text string) {
	p.wire.t.Helper()
	p.wire.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Key is the DOM name of a key.
type Key string

// The keys.
const (
	Enter  Key = "Enter"
	Escape Key = "Escape"
	Slash  Key = "/"
	Tab    Key = "Tab"
)

// Press presses and releases a key.
func (p *Page) Press(key Key) {
	p.wire.t.Helper()
	known := map[Key]struct {
		code, text string
		virtual    int
	}{Enter: {"Enter", "\r", 13}, Escape: {"Escape", "", 27}, Slash: {"Slash", "/", 191}, Tab: {"Tab", "", 9}}[key]
	event := map[string]any{"type": "keyDown", "key": string(key), "code": known.code, "windowsVirtualKeyCode": known.virtual}
	if known.text != "" {
		event["text"] = known.text
	}
	p.wire.call("Input.dispatchKeyEvent", event, nil)
	delete(event, "text")
	event["type"] = "keyUp"
	p.wire.call("Input.dispatchKeyEvent", event, nil)
}

// Print returns the page as a PDF.
func (p *Page) Print() []byte {
	p.wire.t.Helper()
	var got struct {
		Data string `json:"data"`
	}
	p.wire.call("Page.printToPDF", nil, &got)
	printed, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		p.wire.t.Fatal(err)
	}
	return printed
}

// wire is a DevTools connection over a pair of pipes. A zero byte ends each JSON message.
// One goroutine uses it.
type wire struct {
	t       testing.TB
	input   io.Writer
	output  *bufio.Reader
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
	w := &wire{t: t, input: in, output: bufio.NewReader(out)}
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
	if _, err := w.input.Write(append(text, 0)); err != nil {
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
	text, err := w.output.ReadBytes(0)
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
