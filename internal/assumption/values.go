package assumption

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// stated finds settings of a mesh in the values of a chart, in parameters such as {name: proxy.a, value: b}, and in flags.
var stated = regexp.MustCompile(`(?:\\n|\b)(rootNamespace|istioNamespace|trustDomain|trustDomainAliases|pathNormalization|extensionProviders|` +
	`policyEnforcementMode|enable-policy|enablePolicy|policyAuditMode|policy-audit-mode|policyCIDRMatchMode|policy-cidr-match-mode|policy-default-local-cluster|l7Proxy|enable-l7-proxy|` +
	`defaultInboundPolicy|default-inbound-policy|identityTrustDomain|clusterDomain|clusterNetworks)\b[\w.\[\]]*["'\\]*(?: *[:=]|, *"?value"?:|\s+value *=) *["'\\]*([^\s"',}\\]+)`)

// setsDefault returns the field of an object that may set up a mesh where one of these settings is not its default: an object of an operator or of a tool that
// installs a chart, the values of a chart, also in a ConfigMap. It returns "" where there is none.
func setsDefault(o clusterobject.Object, defaults map[string]string) string {
	if !mayHaveValues(o) {
		return ""
	}
	for _, key := range o.Doc.Keys() {
		at, _ := o.Doc.Lookup(key)
		if setsIn(key+": "+at.Flow(), defaults) {
			return key
		}
	}
	if len(o.Doc.Keys()) == 0 && setsIn(o.Doc.Flow(), defaults) {
		return firstItem
	}
	if o.Group != "" || o.Kind != "ConfigMap" && o.Kind != "Secret" {
		return ""
	}
	return fieldWith(o, func(value any) bool { // some of them are in base64
		text, _ := value.(string)
		return setsIn(text, defaults)
	})
}

// firstItem is the field of a document without keys, such as a patch in JSON, which is a list.
const firstItem = "[0]"

// mayHaveValues reports whether an object may have the values of a chart, or makes a Secret with them.
func mayHaveValues(o clusterobject.Object) bool {
	return IsOfMeshConfig(o) || o.IsNone() || o.HasKindOf(clusterobject.Config) && o.Group != "cert-manager.io"
}

// setsIn reports whether a text states one of these settings, and not as its default.
func setsIn(text string, defaults map[string]string) bool {
	isNamed := func(name string) bool { return strings.Contains(text, name) }
	// Most texts name none: it takes much longer to look for what they state.
	return slices.ContainsFunc(slices.Collect(maps.Keys(defaults)), isNamed) && slices.ContainsFunc(stated.FindAllStringSubmatch(text, -1), func(found []string) bool {
		usual, known := defaults[found[1]]
		return known && found[2] != usual
	})
}

// setting is [setsIn] for settings whose defaults are always the same.
func setting(defaults map[string]string) func(string, Options) bool {
	return func(text string, _ Options) bool { return setsIn(text, defaults) }
}

// comment finds the lines of a text that say nothing.
var comment = regexp.MustCompile(`(?m)^[ \t]*(#|//).*$`)

func withoutComments(text string) string { return comment.ReplaceAllString(text, "") }

// installsIn returns the namespace into which an object says that it installs a chart, "" where it does not say so.
func installsIn(o clusterobject.Object) string {
	text := func(keys ...string) string { text, _ := fieldvalue.Lookup(o.Fields, keys...).(string); return text }
	return cmp.Or(text("spec", "targetNamespace"), text("spec", "destination", "namespace"))
}

// decidesIn returns the namespace in which alone an object decides, or what it installs; "" where that is not known: the values in a ConfigMap may be
// for a chart in any namespace, and Argo CD leaves the namespace to the chart.
func decidesIn(o clusterobject.Object) string {
	if in := installsIn(o); in != "" || o.Kind != "NetworkPolicy" && o.Kind != "HelmRelease" {
		return in
	}
	return o.Written()
}

// installsElsewhere reports whether an object of Flux or Argo CD installs a chart of that name, in another namespace than the usual one.
func installsElsewhere(o clusterobject.Object, chart, usual string) bool {
	in := cmp.Or(installsIn(o), o.Written())
	return in != "" && in != usual && fieldvalue.Any(o.Fields, func(value any) bool {
		of, _ := fieldvalue.Lookup(value, "chart").(string)
		return of == chart || strings.HasSuffix(of, "/"+chart)
	})
}
