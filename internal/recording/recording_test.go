package recording

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// compiler allows every caller by policies with the name "open", and refuses others. It speaks
// the version of the protocol that its first argument names.
const compiler = `
read hello
echo "{\"protocol\": $0, \"name\": \"shell\", \"version\": \"3\"}"
while read -r line; do
  id=${line#*\"id\":}
  case $line in
  *\"name\":\"open\"*) echo "{\"id\": ${id%%,*}, \"filters\": {\"network\": [{\"rules\": {\"policies\": {\"open\": {\"permissions\": [{\"any\": true}], \"principals\": [{\"any\": true}]}}}}]}}" ;;
  *) echo "{\"id\": ${id%%,*}, \"error\": \"the name is not open\"}" ;;
  esac
done`

var backend = policy.Inbound{Workload: policy.Workload{Name: "backend"}, Port: 8080, Protocol: policy.TCP}

// TestRecording records a compiler of each version and asks the recording what the compiler
// was asked.
func TestRecording(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2"} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "answers.jsonl")
			r := New("make record")
			c, err := plugin.Start(t.Context(), []string{"/bin/sh", "-c", compiler, version}, plugin.Options{Record: r.Keep})
			if err != nil {
				t.Fatal(err)
			}
			open, closed, other := dialecttest.Documents(t, "{name: open}"), dialecttest.Documents(t, "{name: closed}"), dialecttest.Documents(t, "{name: open, more: true}")
			want, err := c.Compile(t.Context(), backend, open, language.Options{})
			_, refusal := c.Compile(t.Context(), backend, closed, language.Options{})
			if err != nil || len(want.Network) != 1 || refusal == nil {
				t.Fatalf("%v, %v, %v", want, err, refusal)
			}
			if err := errors.Join(c.Close(), r.Write(path, c)); err != nil {
				t.Fatal(err)
			}

			stub, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if stub.Unasked() != 2 {
				t.Errorf("%d answers were not asked for, want 2", stub.Unasked())
			}
			got, err := stub.Compile(t.Context(), backend, open, language.Options{})
			if err != nil || len(got.Network) != 1 || !proto.Equal(got.Network[0], want.Network[0]) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
			if _, err := stub.Compile(t.Context(), backend, closed, language.Options{}); err == nil || err.Error() != refusal.Error() {
				t.Errorf("got %v, want the refusal %v", err, refusal)
			}
			var broken *plugin.Error
			if _, err := stub.Compile(t.Context(), backend, other, language.Options{}); !errors.As(err, &broken) || !errors.Is(err, errMissing) || !strings.Contains(err.Error(), "record again with make record") {
				t.Errorf("a question without an answer: %v", err)
			}
			if stub.Unasked() != 0 {
				t.Errorf("%d answers were not asked for", stub.Unasked())
			}
		})
	}
}

// TestBadRecording refuses a file that says nothing of its compiler, and an answer that is not
// sound: that is no refusal of policies.
func TestBadRecording(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"empty": "", "no JSON": "answers", "no version": "{}", "a bad line": "{\"protocol\": 1}\nx"} {
		write(text)
		if _, err := Read(path); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	question, err := plugin.Question(1, backend, nil, language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write("{\"protocol\": 1}\n{\"question\": \"" + keyOf(question) + "\", \"answer\": {\"filters\": 7}}\n")
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Compile(t.Context(), backend, nil, language.Options{}); !errors.As(err, new(*plugin.Error)) || !errors.Is(err, plugin.ErrAnswer) {
		t.Errorf("got %v", err)
	}
}
