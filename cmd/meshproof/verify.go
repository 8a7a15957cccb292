package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verify"
)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	source   sourceOptions
	dump     string
	filters  string
	anyNames bool
	jwks     map[string]string
	envoy    envoyFlags
	output   outputFormat
	report   string
}

func newVerify() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify POLICIES… --config-dump FILE",
		Short: "Hold what a live sidecar enforces against policies",
		Long: `Verify takes the authorization filters out of a sidecar's /config_dump, or out of a folder of filters and
listeners, runs them in the lab's Envoy under lab identities, and holds every class of requests against the
policies: the classes that the policies tell apart, and the classes that the filters tell apart. The lab's Envoy
has the version that the dump states. Where it states none, --envoy has to name one, and a finding says so. Where
--envoy names another than the dump, nothing is verified.

POLICIES are files or folders with policies, and with the Dataplane that the sidecar is of; else the flags
describe its workload. The parts of the sidecar that cannot be replayed are named. Exit status 1 where a class is
decided otherwise, or an inbound could not be verified: it has no counterpart, or something besides RBAC decides
before it. Linkerd's proxy is no Envoy, and Cilium's decides by filters of its own: neither can be verified.`,
		Example: `  meshproof verify policies/ --config-dump dump.json --label app=backend`,
		Args:    needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			const one = "one of them says what the sidecar enforces"
			switch {
			case o.dump == "" && o.filters == "":
				return errors.New("--config-dump and --filters are missing: " + one)
			case o.dump != "" && o.filters != "":
				return errors.New("--filters: leave out --filters or --config-dump: " + one)
			}
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.dump, "config-dump", "", "answer of the sidecar's admin endpoint to /config_dump")
	flags.StringVar(&o.filters, "filters", "", "folder with filters, listeners or dumps, as JSON")
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	flags.StringToStringVar(&o.jwks, "jwks", nil, "keys of an issuer (JSON Web Key Set) that the policies name by jwksUri, as `ISSUER=FILE`")
	flags.Lookup("jwks").DefValue = ""
	o.envoy.add(cmd)
	flags.StringVar(&o.report, "report", "", "write results, conformance report, page, JUnit and summary into this folder")
	addOutput(cmd, &o.output)
	flags.Lookup("envoy").Usage = "version of Envoy, see meshproof envoy list (default: the version that the dump states)"
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	all, files, err := o.source.cases(paths)
	if err != nil {
		return err
	}
	if err := prepareReport(o.report); err != nil {
		return err
	}
	found, err := o.read()
	if err != nil {
		return err
	}
	keys, err := lab.ReadKeys(o.jwks)
	if err != nil {
		return fmt.Errorf("--jwks: %w", err)
	}
	v, err := verify.Match(ctx, all, files, o.source.flags.Changed("port"), o.source.only, keys, found)
	if err != nil {
		return o.source.nothingLeft(err)
	}
	v.Explain(func(c lab.Case, ports ...string) explanation.Command { return o.source.explainer(paths, c, ports...) })
	v.Report.Strict = o.source.strict
	began := time.Now()
	known, err := advisory.BuiltIn()
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(stderr, len(v.Replays))
	defer progress.Stop()
	h, err := o.envoy.startNear(progress.Count(ctx), v.Envoy())
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	v.SetEnvoy(h.Version(), h.Runtime().String(), o.envoy.version != "", h.Behavior())
	v.SetAdvisories(known, h.Behavior())
	err = v.Run(progress.Count(ctx), func(ctx context.Context, replay verify.Replay) result.Case {
		r := suite.Runner{Harness: h, Kept: true, Divided: true, AnyNames: o.anyNames, Compiler: suite.Fixed(replay.Filters)}.Reading(ctx, replay.Proof.Reading)
		progress.End(r.Case.Name, r.Failed())
		return r
	})
	if err != nil {
		return err
	}
	progress.Stop()
	err = printResult(stdout, o.output, v)
	if o.report != "" {
		run := beginReport(ctx, h, began)
		v.AddTo(&run, func(r result.Case) report.Case { return reportCase(r, "verify", "", run) })
		err = errors.Join(err, writeReport(o.report, run, began))
	}
	return withFailure(exitFor(v.Report.Fault(), !v.Holds()), err)
}

func (o *verifyOptions) read() (sidecar.Sidecar, error) {
	if o.filters != "" {
		info, err := os.Stat(o.filters)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder: use --config-dump for a single dump", o.filters)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: name a folder with the answers of Envoy's /config_dump and /runtime", err)
		}
		if err != nil {
			return sidecar.Sidecar{}, fmt.Errorf("--filters: %w", err)
		}
		found, err := sidecar.Folder(os.DirFS(o.filters))
		if err != nil {
			return sidecar.Sidecar{}, fmt.Errorf("--filters: %s: %w", o.filters, err)
		}
		return found, nil
	}
	return readDump(o.dump)
}

// readDump reads the file of --config-dump.
func readDump(file string) (sidecar.Sidecar, error) {
	data, err := folder.ReadUpTo(file, messages.MaxSize)
	if err != nil {
		return sidecar.Sidecar{}, fmt.Errorf("--config-dump: %w: name a file with the answer of Envoy's /config_dump", err)
	}
	found, err := sidecar.Dump(data)
	if err != nil {
		return sidecar.Sidecar{}, fmt.Errorf("--config-dump: %s: %w", file, err)
	}
	return found, nil
}
