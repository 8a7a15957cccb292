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

// TestMain makes this binary one of the compilers where its first argument says so.
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

// helper is the command line of a compiler below.
func helper(name string, args ...string) []string {
	return append([]string{os.Args[0], helperPrefix + name}, args...)
}

// helpers are compilers, most of them broken.
var helpers map[string]func(in io.Reader, out io.Writer, args []string)

func init() {
	helpers = map[string]func(in io.Reader, out io.Writer, args []string){
		"reference": reference,
		// Says once what it is told, and listens on.
		"say": func(in io.Reader, out io.Writer, args []string) {
			fmt.Fprintln(out, args[0])
			_, _ = io.Copy(io.Discard, in)
		},
		// Answers with the field "answer" of the first policy, ID being that of the request.
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
		// Dies of the first request, after some last words.
		"crash": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				for i := range 2 * tailLines {
					fmt.Fprintf(os.Stderr, "line %d\n", i)
				}
				fmt.Fprint(os.Stderr, "last \x1b[31mwords\xff")
				os.Exit(3)
			})
		},
		// Writes without an end to the line.
		"flood": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(string, []byte) {
				for {
					if _, err := out.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
						return
					}
				}
			})
		},
		// Complains a lot, and answers all the same.
		"noise": func(in io.Reader, out io.Writer, _ []string) {
			each(in, out, func(id string, _ []byte) {
				for range 20 {
					_, _ = os.Stderr.Write(bytes.Repeat([]byte("no line "), 1<<17))
				}
				fmt.Fprintf(out, "{\"id\": %s, \"filters\": {}}\n", id)
			})
		},
		// Greets, and hangs from then on, with its output open or closed, without reading
		// any further. Its child hangs, too, and like itself holds a connection.
		"hang": func(in io.Reader, out io.Writer, args []string) {
			held := hold(args[0])
			child := exec.Command(os.Args[0], helperPrefix+"hold", args[0])
			if err := child.Start(); err != nil {
				panic(err)
			}
			_, _ = bufio.NewReader(in).ReadSlice('\n')
			fmt.Fprintln(out, sound)
			if len(args) > 1 {
				os.Stdout.Close()
			}
			held()
		},
		// Answers a request once it may.
		"late": func(in io.Reader, out io.Writer, args []string) {
			each(in, out, func(id string, _ []byte) {
				hold(args[0])()
				fmt.Fprintf(out, "{\"id\": %s, \"error\": \"refused %s\"}\n", id, id)
			})
		},
		"hold": func(_ io.Reader, _ io.Writer, args []string) { hold(args[0])() },
	}
}

// each greets, and calls for each request.
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

// hold connects, and returns what waits until the other side goes.
func hold(address string) func() {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	return func() { _, _ = io.Copy(io.Discard, conn) }
}
