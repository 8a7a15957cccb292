package adversary_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/adversary"
)

// notes lists, for each column, the attacks that succeed on one of the versions.
func notes(title string, versions []table) []string {
	var out []string
	for i, column := range versions[0].rows[0].cells {
		why, succeeds := success(title, column)
		if succeeds == nil {
			continue
		}
		var names []string
		for r, first := range versions[0].rows[1:] {
			if !slices.ContainsFunc(versions, func(t table) bool { return succeeds(first.name, t.rows[r+1].cells[i]) }) {
				continue
			}
			if last := len(names) - 1; last >= 0 && first.name == "h2-"+names[last] {
				names[last] += alsoHTTP2
			} else {
				names = append(names, first.name)
			}
		}
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s%s: %s:", noteMark, column, why))
			out = append(out, wrap(names)...)
		}
	}
	return out
}

// wrap breaks a list into lines of about a hundred characters.
func wrap(names []string) []string {
	var out []string
	line := noteMark + " "
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if len(line)+len(name) > 110 {
			out, line = append(out, line), noteMark+" "
		}
		line += " " + name
	}
	return append(out, line)
}

// success describes the success of an attack in a column, and returns a function that
// finds it in a cell. The function is nil when no attack can succeed.
func success(title, column string) (string, func(name, cell string) bool) {
	deny := strings.Contains(column, "deny")
	switch {
	case title == identitiesTitle && column == "xfcc":
		return "the upstream may read the victim's name", hasVictim
	case title == identitiesTitle && deny:
		return "a certificate that names the victim passes the deny", func(name, cell string) bool {
			return passed(cell) && byName(name).NamesVictim
		}
	case title == identitiesTitle:
		return "another certificate gets the victim's allow", func(name, cell string) bool {
			return passed(cell) && byName(name).Name != ""
		}
	case column == "deny-path":
		return "it is served, and some upstream may read the protected path", mayBePath
	case column == "deny-method":
		return "it is served, and some upstream may read the protected method", mayBeMethod
	case deny:
		return "the upstream gets the value nevertheless", func(_, cell string) bool {
			return passed(cell) && strings.Contains(strings.ToLower(cell), protectedValue)
		}
	case strings.HasPrefix(column, "rules-allow"):
		return "more than the value is allowed", func(_, cell string) bool {
			return passed(cell) && !strings.HasSuffix(cell, protectedHeader+"="+protectedValue) && strings.Contains(cell, "=")
		}
	default:
		return "", nil
	}
}

// byName returns a mutation, and the zero value for a sound identity.
func byName(name string) adversary.Identity {
	for _, id := range adversary.Identities(victim) {
		if id.Name == name {
			return id
		}
	}
	return adversary.Identity{}
}

// passed reports whether the policy allowed the request.
func passed(cell string) bool {
	return cell != "handshake" && !strings.HasPrefix(cell, "closed") && !strings.HasPrefix(cell, "403")
}

// hasVictim reports whether a reader that splits XFCC at commas and semicolons finds the
// victim's name.
func hasVictim(name, cell string) bool {
	keys := strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ';' })
	return byName(name).Name != "" && slices.Contains(keys, "URI=victim")
}

// served splits the cell of an allowed request that reached the upstream.
func served(cell string) (method, path string, ok bool) {
	words := strings.Split(cell, " ")
	if len(words) < 4 || words[1] != unprotected {
		return "", "", false
	}
	return words[2], words[3], true
}

func mayBePath(_, cell string) bool {
	_, target, ok := served(cell)
	path, _, _ := strings.Cut(target, "?")
	return ok && (path != "/innocent" || strings.Contains(cell, "="+protectedPath))
}

func mayBeMethod(_, cell string) bool {
	method, _, ok := served(cell)
	return ok && (strings.EqualFold(method, protectedMethod) || strings.Contains(cell, "="+protectedMethod))
}
