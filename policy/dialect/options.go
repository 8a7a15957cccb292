package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

const defaultTrustDomain = "trust-domain.mesh"

// CheckOptions refuses a key that neither a dialect nor one of the structs has, and a
// value of a wrong type. The structs belong to the caller, and get their fields as by
// [manifest.Document.Decode].
func CheckOptions(doc manifest.Document, own ...any) error {
	for _, d := range dialects {
		own = append(own, d.NewOptions())
	}
	return doc.Decode(own...)
}

// OptionsJSON returns all options of all dialects as one JSON object with the
// defaults filled in, and the trust domain among them: what a foreign compiler is
// told. Its errors are those of [CheckOptions].
func OptionsJSON(opts language.Options) (json.RawMessage, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, d := range dialects {
		own := d.NewOptions()
		if err := opts.Document.DecodeKnown(own); err != nil {
			return nil, err
		}
		text, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		if inner := bytes.Trim(text, "{}"); len(inner) > 0 {
			out.Write(text[1 : len(text)-1])
			out.WriteByte(',')
		}
	}
	trustDomain, err := json.Marshal(cmp.Or(opts.TrustDomain.Name(), defaultTrustDomain))
	if err != nil {
		return nil, err
	}
	out.WriteString(`"trustDomain":`)
	out.Write(trustDomain)
	out.WriteByte('}')
	return out.Bytes(), nil
}
