package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Suite is cases, a compiler, and the versions of Envoy on which to run the cases. The zero value is the built-in cases under
// meshproof's own compiler, on the default version of Envoy.
type Suite struct {
	// Cases are the cases to choose from; nil stands for the built-in ones, [cases.Stories]. A case that asks and expects nothing is refused.
	Cases []cases.Case

	// Compiler, Command and ControlPlane say what is under test. At most one of them is set.
	Compiler Compiler
	// Command is the command line of a compiler that speaks the protocol of docs/compilers.md. No shell reads it. The
	// program is started once, and ends with the run.
	Command []string
	// ControlPlane serves the filters over ADS.
	ControlPlane *ControlPlane
	// Timeout bounds each answer of Command and ControlPlane; 0 stands for 10 seconds.
	Timeout time.Duration

	// Implementation says who answers for what is under test. A report needs all of its fields, unless meshproof's own
	// compiler is under test.
	Implementation Implementation
	// AnyNames is true where RBAC policies in the filters have names of the compiler's own. Then the cases compare what was
	// decided, and not which policy decided. The report says so.
	AnyNames bool
	// Selection says which of the cases count.
	Selection Selection
	// Seed draws the same policies as an earlier run; 0 draws others. Where there are profiles or a report, policies
	// that were never seen before are part of the run, and the report has their seed.
	Seed uint64
	// Shard is the part of the cases that runs here, such as "2/5" for the second of five parts; empty for all of them.
	Shard string
	// Versions are the versions of Envoy, such as "1.39.3"; none stands for [harness.DefaultVersion].
	Versions []string
	// Runtime says how Envoy runs.
	Runtime harness.Runtime
	// ReportDir is the folder for the report; empty for no report.
	ReportDir string
	// Log returns the writer of the log of one Envoy, or nil for none. Log itself may be nil.
	Log func(version string) io.Writer
}

// Profile is the name of a specification: "KUMA-MTP", "KUMA-MTP-LEGACY" or "GEP-3779".
type Profile = feature.Profile

// Feature is the name of a feature, such as "AuthorizationPolicyPorts". The command meshproof features lists all of them.
type Feature = feature.Name

// Selection says what a compiler claims to support. The zero value claims everything. [Suite.Run] refuses a name that is no
// profile or no feature.
type Selection struct {
	// Profiles are the claimed profiles; none stands for all of them. Where there are some, cases of other profiles are left
	// out, and so are cases without a feature.
	Profiles []Profile
	// Supported are the claimed extended features; nil stands for all of them. The core features of a profile are always
	// claimed.
	Supported []Feature
	// Exempt are features that are not claimed although the others are. They may be core features: the report then says that
	// the profile is supported in part.
	Exempt []Feature
}

// Implementation says who answers for a compiler, in the words of Gateway API's conformance report.
type Implementation struct {
	Organization string
	Project      string
	URL          string
	Version      string
	Contact      []string
}

// ControlPlane is an ADS server. meshproof is a node of its own for each inbound. The metadata of the node has the policies
// of the case under "meshproof", in the form of docs/compilers.md.
type ControlPlane struct {
	// Target is host:port of the server.
	Target string
	// Transport protects the connection; nil stands for TLS with the roots of the system.
	Transport credentials.TransportCredentials
}

// Result is the outcome of the cases on one version of Envoy.
type Result struct {
	// Envoy is the release that ran, such as "1.40.0".
	Envoy string
	// Passed, Failed and Skipped count cases.
	Passed, Failed, Skipped int
	// Cases are in the order of the case files.
	Cases []CaseResult
}

// CaseResult is the outcome of one case. A case failed if it did not pass and was not skipped.
type CaseResult struct {
	// Name is the name of the case, Place its file and line.
	Name, Place string
	Passed      bool
	// Skipped says why the case did not run; empty for a case that ran.
	Skipped string
	// Problems say what is not as the case wants it.
	Problems []string
}

// Run runs the suite as a test: a subtest for each version of Envoy, and in it one for each case. It writes the report where
// the suite names a folder, also if cases failed. Cases that the flag -run leaves out are skipped cases in the report.
func Run(t *testing.T, s Suite) {
	t.Helper()
	m, end, err := s.matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	matrix.Run(t, m) // it returns when all subtests are over
}

// Run runs the cases on every version, and returns a result for each version that could be started, in the order of the
// versions. It writes the report where the suite names a folder. A case that failed is a result, not an error. With an error
// the results that are there hold.
func (s Suite) Run(ctx context.Context) ([]Result, error) {
	m, end, err := s.matrix(ctx)
	if err != nil {
		return nil, err
	}
	if s.ReportDir != "" {
		if err := folder.Prepare(s.ReportDir); err != nil {
			return nil, errors.Join(err, end())
		}
	}
	ran, err := m.Run(ctx)
	err = errors.Join(err, end())
	var runs []report.Run
	var out []Result
	for _, r := range ran {
		runs = append(runs, r.Report)
		out = append(out, newResult(r.Report))
	}
	if s.ReportDir != "" && len(runs) > 0 {
		err = errors.Join(err, folder.Write(s.ReportDir, runs))
	}
	return out, err
}

// matrix starts what is under test. The function that it returns ends it.
func (s Suite) matrix(ctx context.Context) (m matrix.Suite, end func() error, err error) {
	m = matrix.Suite{
		Cases: s.Cases, Implementation: report.Implementation(s.Implementation), AnyNames: s.AnyNames,
		Selection: matrix.Selection(s.Selection), Versions: s.Versions, Runtime: s.Runtime, ReportDir: s.ReportDir, Log: s.Log,
	}
	for _, c := range s.Cases {
		if len(c.Requests)+len(c.RoutedRequests)+len(c.ExpectWarnings) == 0 && c.ExpectError == "" {
			return m, nil, fmt.Errorf("conformance: the case %q has no request, and expects no error and no warning: it proves nothing", c.Name)
		}
	}
	if s.Shard != "" {
		if err := m.Shard.UnmarshalText([]byte(s.Shard)); err != nil {
			return m, nil, err
		}
	}
	if len(s.Selection.Profiles) > 0 || s.ReportDir != "" {
		m.Sets, m.Seed = matrix.FreshSets, cmp.Or(s.Seed, policyset.NewSeed())
	}
	m.Compiler, end, err = s.compiler(ctx)
	return m, end, err
}

func newResult(r report.Run) Result {
	out := Result{Envoy: r.Envoy, Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped}
	for _, c := range r.Cases {
		out.Cases = append(out.Cases, CaseResult{Name: c.Case, Place: c.Place, Passed: c.Passed, Skipped: c.Skipped, Problems: c.Problems()})
	}
	return out
}

// Compiler turns the policies of one inbound into the filters that enforce them. It gets all policies of the case, and
// selects those that apply. Its methods are called from several goroutines.
//
// The name of an RBAC policy in the filters says which policy decided. The suite compares it with the name that the
// specification gives, unless [Suite].AnyNames is set.
//
// An error says that the policies are refused, in words of the compiler's own; a case may expect that. An error with a method
// Broken() bool that returns true says that the compiler is out of order: then the case fails.
type Compiler interface {
	Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error)
}

// compiler returns what is under test, and a function that ends it.
func (s Suite) compiler(ctx context.Context) (c suite.Compiler, end func() error, err error) {
	set := 0
	for _, is := range []bool{s.Compiler != nil, s.Command != nil, s.ControlPlane != nil} {
		if is {
			set++
		}
	}
	nothing := func() error { return nil }
	switch {
	case set > 1:
		return nil, nil, errors.New("conformance: the suite sets more than one of Compiler, Command and ControlPlane: set one of them")
	case s.ControlPlane != nil:
		plane := ads.Compiler{Target: s.ControlPlane.Target, Transport: s.ControlPlane.Transport, Timeout: s.Timeout}
		return &suite.Foreign{CompilerFunc: plane.Compile}, nothing, nil
	case s.Command != nil:
		started, err := plugin.Start(ctx, s.Command, plugin.Options{Meshproof: matrix.Version(), Timeout: s.Timeout})
		if err != nil {
			return nil, nil, err
		}
		return &suite.Foreign{CompilerFunc: started.Compile}, started.Close, nil
	case s.Compiler != nil:
		return &suite.Foreign{CompilerFunc: s.Compiler.Compile}, nothing, nil
	default:
		return nil, nothing, nil
	}
}
