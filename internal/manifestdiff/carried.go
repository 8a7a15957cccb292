package manifestdiff

import (
	"encoding/base64"
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// What a manifest in a text has: the version of a kind, with a domain where it is no kind of the core, and a kind. A document of Kuma on Universal
// has a type.
var (
	carriedVersion = regexp.MustCompile(`apiVersion["']?\s*:\s*["']?(v1|(?:apps|autoscaling|batch|extensions|policy)/\w+|[a-z0-9-]+(?:\.[a-z0-9-]+)+/\w+)\b`)
	carriedKind    = regexp.MustCompile(`kind["']?\s*:\s*["']?(\w+)`)
	carriedType    = regexp.MustCompile(`(?:^|[\n{,])\s*["']?type["']?\s*:\s*["']?(?:Mesh|Dataplane)`)
	ofComponent    = regexp.MustCompile(`\.config\.k8s\.io/`)
)

// carriesManifest reports whether a ConfigMap or a Secret, also one that an object makes, has the text of a manifest: a tool that reads such texts, such as
// a ClusterResourceSet, may apply it.
func (o object) carriesManifest() bool {
	for _, at := range secretTemplates {
		for _, field := range []string{"data", "stringData", "binaryData"} {
			values, _ := fieldvalue.Lookup(o.fields, slices.Concat(at, []string{field})...).(map[string]any)
			for _, value := range values {
				text, _ := value.(string)
				if isManifest(o.plainText(field, text)) {
					return true
				}
			}
		}
	}
	return false
}

// plainText returns a text of a field of a ConfigMap or a Secret as it is written there: some fields are in base64.
func (o object) plainText(field, text string) string {
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && (field == "binaryData" || o.kind == "Secret" && field == "data") {
		return string(raw)
	}
	return text
}

func isManifest(text string) bool {
	if carriedType.MatchString(text) {
		return true
	}
	ofCluster := func(found string) bool { return !ofComponent.MatchString(found) }
	kinds := carriedKind.FindAllStringSubmatch(text, -1)
	isKubeconfig := len(kinds) == 1 && kinds[0][1] == "Config"
	return len(kinds) > 0 && !isKubeconfig && slices.ContainsFunc(carriedVersion.FindAllString(text, -1), ofCluster)
}
