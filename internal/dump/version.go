package dump

import (
	"cmp"
	"encoding/json"
	"strings"
)

const nodeMessage = "envoy.config.core.v3.Node"

// releaseCommits are the commits of the releases that are pinned, as each of them states its own. A vendor
// may state the number of a release for a build of other sources.
var releaseCommits = map[string]string{
	"1.36.4": "bad8280de85c25b147a90c1d9b8a8c67a13e7134",
	"1.37.0": "3909deb175ef358202d6ab4f94d683ffc0fdb477",
	"1.38.3": "0ebfcfe5b0484b89ca85b761da9e05ce75dbda8d",
	"1.39.3": "6eb0d2d97489ec1b4e1584a004f5de443d97a41b",
	"1.40.0": "9e5580933739775e8bce696a57a2e1bc99368f23",
}

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
	switch known := releaseCommits[out]; {
	case label != "":
		out += "-" + label
	case !ok && get(metadata, "build.label") != nil:
		out += "-unreadable"
	case known != "" && commit != "" && commit != known:
		out += "-" + commit[:min(commitDigits, len(commit))]
	}
	if stated != "" && stated != out {
		r.tellBeside(nodeMessage, "the sidecar states the version %q, and %q of its build", stated, out)
	}
	return out
}
