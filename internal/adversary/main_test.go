package adversary_test

import (
	"cmp"
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/pin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false, "measure every pinned version and rewrite testdata/measured.txt")

// testedVersion returns the version that the tests measure and compare.
func testedVersion() string { return cmp.Or(os.Getenv("MESHPROOF_ENVOY"), pin.DefaultVersion) }

// The target of the attacks.
var (
	domain   = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	victim   = spiffeid.RequireFromPath(domain, "/ns/default/sa/victim")
	attacker = adversary.Attacker(victim)
	backend  = spiffeid.RequireFromPath(domain, "/ns/default/sa/backend")
)

const (
	protectedMethod = "DELETE"
	protectedPath   = "/admin"
	protectedHeader = "x-role"
	protectedValue  = "operator"
)
