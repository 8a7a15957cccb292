package misreading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/warning"
)

// ofTokenPrincipal finds a principal of a token without an issuer or without a subject.
func ofTokenPrincipal(value string) Misreading {
	issuer, subject := "", ""
	if i := strings.LastIndexByte(value, '/'); i >= 0 {
		issuer, subject = value[:i], value[i+1:]
	}
	// The scheme of an issuer is no issuer.
	if strings.Contains(value, "*") || subject != "" && !strings.HasSuffix(issuer, ":/") {
		return Misreading{}
	}
	return never(fmt.Sprintf("a principal of a token is ISSUER/SUBJECT: write %s/* for all subjects of an issuer", value))
}

// ofServerName finds a server name that no caller sends.
func ofServerName(value string) Misreading {
	name := withoutStar(value)
	bare, port, _ := strings.Cut(name, ":")
	isPort := port != "" && strings.Trim(port, "0123456789") == ""
	switch err := servername.Check(value); {
	case strings.Contains(name, "*"):
		return Misreading{}
	case servername.Kept(value) != value:
		return never("Envoy keeps a server name in small letters: write " + servername.Kept(value))
	case name == value && err != nil:
		return never(err.Error())
	case isPort && !servername.IsAddress(name):
		return never("a server name has no port: write " + strings.TrimSuffix(value, name) + bare)
	default:
		return Misreading{}
	}
}

func ofMethod(value string) Misreading {
	switch {
	case strings.ContainsAny(value, "|,; "):
		return never("a value is one method, and is compared as a whole: write each method as a value of its own")
	case value != strings.ToUpper(value):
		return never("methods are compared as they stand: write " + strings.ToUpper(value))
	default:
		return Misreading{}
	}
}

// isTemplate reports whether a value is a path with operators, whose stars are no text.
func isTemplate(subject, value string) bool {
	return subject == "paths" && automaton.Wildcards(value) != value
}

func ofPath(value string, beside List) Misreading {
	if isTemplate("paths", value) {
		return Misreading{}
	}
	if strings.ContainsAny(value, "?#") {
		return never("a path is compared without its query and fragment")
	}
	if value[0] != '/' && value[0] != '*' {
		return never("every path begins with a slash: write /" + value)
	}
	if reason := beside.rewritten(value); reason != "" {
		return never(reason)
	}
	if begin, ends := strings.CutSuffix(value, "*"); ends && value[0] != '*' && endsInName(begin) {
		return Misreading{warning.PathInsideName, fmt.Sprintf("the star also stands for the rest of a longer name, as in %s-internal: write %s and %s/*", begin, begin, begin)}
	}
	return Misreading{}
}

func ofHost(value string, beside List) Misreading {
	if strings.ContainsAny(value, "/?#") {
		advice := ""
		if bare := hostWithin(value); bare != "" {
			advice = ": write " + bare
		}
		return never("a host has neither a scheme nor a path, and Envoy refuses a request with such a host" + advice)
	}
	starts := strings.HasPrefix(value, "*")
	withPort := func(other string) bool { return strings.HasPrefix(other, value+":") }
	switch {
	case strings.Contains(value, ":"), value == "*", !starts && strings.HasSuffix(value, "*"), slices.ContainsFunc(beside.Values, withPort):
		return Misreading{}
	case starts:
		return Misreading{warning.HostWithoutPort, "a caller may send the port too, which is compared as part of the host, and no value has a star at both ends: add each port, as in " + value + ":8080"}
	default:
		return Misreading{warning.HostWithoutPort, "a caller may send the port too, which is compared as part of the host: add " + value + ":*"}
	}
}

// hostWithin returns the host that an author may have meant by a URL.
func hostWithin(value string) string {
	_, bare, schemed := strings.Cut(value, "://")
	if !schemed {
		bare = value
	}
	if end := strings.IndexAny(bare, "/?#"); end >= 0 {
		bare = bare[:end]
	}
	return bare
}
