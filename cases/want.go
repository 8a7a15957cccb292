package cases

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Want is the outcome that a request must have. The zero value is [Deny].
type Want struct {
	kind   wantKind
	status int
}

type wantKind uint8

const (
	wantDeny wantKind = iota
	wantAllow
	wantClose
	wantHandshakeFailure
	wantRefused
	wantStatus
)

// The wants that are no HTTP status.
var (
	// Deny wants that a policy denies the request, in the form of its layer: 403, gRPC
	// PERMISSION_DENIED, or a closed connection without an answer.
	Deny = Want{kind: wantDeny}
	// Allow wants that the upstream gets the request.
	Allow = Want{kind: wantAllow}
	// Close wants a closed connection without an answer.
	Close = Want{kind: wantClose}
	// HandshakeFailure wants that the TLS handshake fails.
	HandshakeFailure = Want{kind: wantHandshakeFailure}
	// Refused wants that the upstream does not get the request. It does not matter
	// whether mTLS, the listener or a policy refuses it.
	Refused = Want{kind: wantRefused}
)

var wantNames = [...]string{wantDeny: "deny", wantAllow: "allow", wantClose: "close", wantHandshakeFailure: "handshake-failure", wantRefused: "refused"}

// Status wants an answer with an HTTP status; 403 is the status of a deny.
func Status(code int) Want { return Want{kind: wantStatus, status: code} }

// Status returns the wanted HTTP status, and whether the want is a status.
func (w Want) Status() (code int, ok bool) { return w.status, w.kind == wantStatus }

// String returns the text of the want in a case file.
func (w Want) String() string {
	if w.kind == wantStatus {
		return strconv.Itoa(w.status)
	}
	return wantNames[w.kind]
}

// wantSchema reads a want: a name, or a status as text or number.
type wantSchema struct{ Want }

// UnmarshalManifest implements manifest.Unmarshaler.
func (w *wantSchema) UnmarshalManifest(d manifest.Document) error {
	text, err := scalar(d)
	if err != nil {
		return err
	}
	for kind, name := range wantNames {
		if name == text {
			w.Want = Want{kind: wantKind(kind)}
			return nil
		}
	}
	switch text {
	case "400", "403", "404", "504":
		code, _ := strconv.Atoi(text)
		w.Want = Status(code)
		return nil
	}
	return fmt.Errorf("%q is not a form that can be wanted: use one of %s, 400, 403, 404, 504", text, strings.Join(wantNames[:], ", "))
}

func scalar(d manifest.Document) (string, error) {
	var text string
	if err := d.Decode(&text); err == nil {
		return text, nil
	}
	var number int
	if err := d.Decode(&number); err != nil {
		return "", d.Errorf("", "text or a number was expected")
	}
	return strconv.Itoa(number), nil
}

// Shadow is the decision that the shadow must have made.
type Shadow uint8

// The values of a request's shadow field.
const (
	// ShadowNone: no shadow engine ran.
	ShadowNone Shadow = iota
	// ShadowAllow: the shadow would allow the request.
	ShadowAllow
	// ShadowDeny: the shadow would deny the request.
	ShadowDeny
)

var shadowNames = [...]string{ShadowNone: "none", ShadowAllow: "allow", ShadowDeny: "deny"}

// String returns the name used in case files.
func (s Shadow) String() string { return shadowNames[s] }

// shadowSchema reads a shadow by its name.
type shadowSchema struct{ Shadow }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *shadowSchema) UnmarshalText(text []byte) error {
	for i, name := range shadowNames {
		if name == string(text) {
			s.Shadow = Shadow(i)
			return nil
		}
	}
	return fmt.Errorf("shadow %q is unknown: use one of %v", text, shadowNames)
}

// value returns the stated shadow, nil where none is stated.
func (s *shadowSchema) value() *Shadow {
	if s == nil {
		return nil
	}
	return &s.Shadow
}
