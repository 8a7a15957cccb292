package policyset

import (
	"fmt"
	"slices"
	"strings"
)

// Form is the way in which the policies of a set are written.
type Form uint8

// The forms. The option of a Kuma form is the design by which its policies are read.
const (
	KumaOption1 Form = iota
	KumaOption2
	KumaOption3
	KumaFrom
	GatewayAPI
)

var formNames = [...]string{KumaOption1: "option1", KumaOption2: "option2", KumaOption3: "option3", KumaFrom: "from", GatewayAPI: "gateway"}

// FormNames are all forms in words, separated by "|".
var FormNames = strings.Join(formNames[:], "|")

// usual are the forms where none is asked for. The accepted design appears twice.
var usual = []Form{KumaOption1, KumaOption1, KumaOption2, KumaOption3, KumaFrom, GatewayAPI}

// String returns one word.
func (f Form) String() string { return formNames[f] }

// UnmarshalText reads the word; an unknown one is an error that lists the known ones.
func (f *Form) UnmarshalText(text []byte) error {
	i := slices.Index(formNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("form %q is unknown: use one of %s", text, strings.Join(formNames[:], ", "))
	}
	*f = Form(i)
	return nil
}

// policies draws the policies of a set, and the options by which they are read.
func (g *generator) policies(form Form) []resource {
	switch form {
	case KumaFrom:
		return g.legacyPolicies()
	case GatewayAPI:
		return g.gatewayPolicies()
	default:
		return g.kumaPolicies(form)
	}
}
