package adversary_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/adversary"
)

// notes lists, for each column, the attacks that succeed on one of the versions,
// so that a reader need not look for them.
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

// wrap writes a list in lines of about a hundred characters.
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

// success returns what it means that an attack succeeds in a column, and how a cell
// tells; nil where there is nothing to win.
func success(title, column string) (string, func(name, cell string) bool) {
	deny := strings.Contains(column, "deny")
	switch {
	case title == identitiesTitle && column == "xfcc":
		return "the upstream may read the victim's name", toldVictim
	case title == identitiesTitle && deny:
		return "the deny is passed by a certificate that names the victim", func(name, cell string) bool {
			return passed(cell) && byName(name).NamesVictim
		}
	case title == identitiesTitle:
		return "the victim's allow is given to another certificate", func(name, cell string) bool {
			return passed(cell) && byName(name).Name != ""
		}
	case column == "deny-path":
		return "it is served, and some upstream may take it for the path", mayBePath
	case column == "deny-method":
		return "it is served, and some upstream may take it for the method", mayBeMethod
	case deny:
		return "the upstream gets the value all the same", func(_, cell string) bool {
			return passed(cell) && strings.Contains(strings.ToLower(cell), protectedValue)
		}
	case strings.HasPrefix(column, "rules-allow"):
		return "the allow is given for more than the value", func(_, cell string) bool {
			return passed(cell) && !strings.HasSuffix(cell, protectedHeader+"="+protectedValue) && strings.Contains(cell, "=")
		}
	default:
		return "", nil
	}
}

// byName returns one of the mutations, the zero value for those who are sound.
func byName(name string) adversary.Identity {
	for _, id := range adversary.Identities(victim) {
		if id.Name == name {
			return id
		}
	}
	return adversary.Identity{}
}

// passed tells that an allow was given, whatever became of the request later.
func passed(cell string) bool {
	return cell != "handshake" && !strings.HasPrefix(cell, "closed") && !strings.HasPrefix(cell, "403")
}

// toldVictim tells whether a reader of XFCC, which splits it at commas and
// semicolons, finds the victim's name in it.
func toldVictim(name, cell string) bool {
	keys := strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ';' })
	return byName(name).Name != "" && slices.Contains(keys, "URI=victim")
}

// served splits the cell of a request that was let through and arrived.
func served(cell string) (method, path string, ok bool) {
	words := strings.Split(cell, " ")
	if len(words) < 4 || words[1] != rest {
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
