package envoy

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/meshproof/meshproof/internal/pin"
)

// serverVersion is the hash of the source, the release, and how it was built.
var serverVersion = regexp.MustCompile(`^[^/]*/(\d+\.\d+\.\d+)`)

// Version asks the running Envoy for its release, such as 1.40.0, at the admin endpoint: a tag of an image, or the name of
// a binary, may lie. Another release than the planned one is a *[pin.Error] with reason pin.ErrUnknownVersion: a result must not
// be reported for a version that did not give it.
func (e *Envoy) Version(ctx context.Context) (string, error) {
	body, err := e.AdminGet(ctx, "/server_info")
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(body, &info); err != nil {
		return "", fmt.Errorf("envoy: admin: GET /server_info: %w", err)
	}
	fail := func(format string, args ...any) (string, error) {
		return "", &pin.Error{
			Doing: "check the version of " + e.plan.runner.source(), Reason: pin.ErrUnknownVersion, Cause: fmt.Errorf(format, args...),
			Hint: "ask for its version or set " + e.plan.runner.variable() + " to another",
		}
	}
	m := serverVersion.FindStringSubmatch(info.Version)
	if m == nil {
		return fail("it says %q", info.Version)
	}
	if want := e.plan.version; want != "" && m[1] != want {
		return fail("it is Envoy %s, not %s", m[1], want)
	}
	return m[1], nil
}
