package dump

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/meshproof/meshproof/internal/pin"
)

const nodeMessage = "envoy.config.core.v3.Node"

// commitDigits is how much of a commit tells builds apart.
const commitDigits = 12

// versionOf returns the version that an Envoy states of its build, empty where it states none. A build that
// is no release has a label behind the numbers: its own one, or the commit of its sources where a release of
// that number has another one.
func (r *Resources) versionOf(node object) string {
	if name := getString(node, "user_agent_name"); name != "" && name != "envoy" {
		r.tellBeside(nodeMessage, "the sidecar names itself %q, and not Envoy", name)
	}
	build := r.part(node, "user_agent_build_version", "envoy.config.core.v3.BuildVersion")
	version := r.part(build, "version", "envoy.type.v3.SemanticVersion")
	stated := getString(node, "user_agent_version")
	if version == nil {
		return stated
	}
	number := func(name string) string {
		n, _ := get(version, name).(json.Number)
		return cmp.Or(n.String(), "0")
	}
	out := number("major_number") + "." + number("minor_number") + "." + number("patch")
	metadata := getObject(build, "metadata")
	label, ok := get(metadata, "build.label").(string)
	commit := strings.ToLower(getString(metadata, "revision.sha"))
	switch known, isPinned := pin.Commit(out); {
	case label != "":
		out += "-" + label
	case !ok && get(metadata, "build.label") != nil:
		out += "-unreadable"
	case isPinned && commit != "" && commit != known:
		out += "-" + commit[:min(commitDigits, len(commit))]
	}
	if stated != "" && stated != out {
		r.tellBeside(nodeMessage, "the sidecar states the version %q, and %q of its build", stated, out)
	}
	return out
}
