package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs a compiler in this binary when the first argument names one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], helperPrefix); ok {
			helpers[name](os.Stdin, os.Stdout, os.Args[2:])
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	helperPrefix = "compiler:"
	sound        = `{"protocol": 1, "name": "helper", "version": "v1"}`
)

// helper returns the command line of a compiler below.
func helper(name string, args ...string) []string {
	return append([]string{os.Args[0], helperPrefix + name}, args...)
}

// helpers are compilers. Most of them are broken.
var helpers map[string]func(in io.Reader, out io.Writer, args []string)

func init() {
	helpers = map[string]func(in io.Reader, out io.Writer, args []string){
		"reference": reference,
		// Writes its argument once, and reads its input to the end.
		"say": func(in io.Reader, out io.Writer, args []string) {
			fmt.Fprintln(out, args[0])
			_, _ = io.Copy(io.Discard, in)
		},
		// Answers with the field "answer" of the first policy. ID stands for the id of the request.
		"parrot": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(id string, ask []byte) {
				var r struct{ Policies []struct{ Answer string } }
				if err := json.Unmarshal(ask, &r); err != nil {
					panic(err)
				}
				fmt.Fprintln(out, strings.ReplaceAll(r.Policies[0].Answer, "ID", id))
			})
		},
		// Answers four requests in the opposite order.
		"backwards": func(in io.Reader, out io.Writer, _ []string) {
			var ids []string
			each(in, out, func(id string, _ []byte) {
				if ids = append(ids, id); len(ids) == 4 {
					slices.Reverse(ids)
					for _, id := range ids {
						fmt.Fprintf(out, "{\"id\": %s, \"error\": \"refused %s\"}\n", id, id)
					}
				}
			})
		},
		// Ends at the first request, after some lines on standard error.
		"crash": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				for i := range 2 * tailLines {
					fmt.Fprintf(os.Stderr, "line %d\n", i)
				}
				fmt.Fprint(os.Stderr, "last \x1b[31mwords\xff")
				os.Exit(3)
			})
		},
		// Writes a line without an end.
		"flood": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				for {
					if _, err := out.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
						return
					}
				}
			})
		},
		// Writes much to standard error, and answers.
		"noise": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(id string, _ []byte) {
				for range 20 {
					_, _ = os.Stderr.Write(bytes.Repeat([]byte("no line "), 1<<17))
				}
				fmt.Fprintf(out, "{\"id\": %s, \"filters\": {}}\n", id)
			})
		},
		// Greets and then hangs, with its output open or closed, and reads nothing more. Its
		// child hangs too. Both hold a connection open.
		"hang": func(in io.Reader, out io.Writer, args []string) {
			wait := hold(args[0])
			child := exec.Command(os.Args[0], helperPrefix+"hold", args[0])
			if err := child.Start(); err != nil {
				panic(err)
			}
			_, _ = bufio.NewReader(in).ReadSlice('\n')
			fmt.Fprintln(out, sound)
			if len(args) > 1 {
				os.Stdout.Close()
			}
			wait()
		},
		// Answers a request when the connection that it holds is closed.
		"late": func(in io.Reader, out io.Writer, args []string) {
			each(in, out, func(id string, _ []byte) {
				hold(args[0])()
				fmt.Fprintf(out, "{\"id\": %s, \"error\": \"refused %s\"}\n", id, id)
			})
		},
		"hold": func(_ io.Reader, _ io.Writer, args []string) { hold(args[0])() },
	}
}

// each greets, and calls do for each request.
func each(in io.Reader, out io.Writer, do func(id string, ask []byte)) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct{ ID int64 }
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		if r.ID == 0 {
			fmt.Fprintln(out, sound)
			continue
		}
		do(fmt.Sprint(r.ID), line)
	}
}

// hold connects, and returns a function that waits until the other side closes.
func hold(address string) func() {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	return func() { _, _ = io.Copy(io.Discard, conn) }
}
