// Package conformance holds a compiler, or a control plane, to the built-in cases on a real Envoy, and writes a report of it.
//
// A compiler turns the policies of an inbound into Envoy's authorization filters. [Run] is the whole of a test:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Suite{
//			Compiler:       mesh.Compiler{},
//			Implementation: conformance.Implementation{Organization: "example", Project: "mesh", ...},
//			Selection:      conformance.Selection{Profiles: []conformance.Profile{"GEP-3779"}},
//			ReportDir:      "report",
//		})
//	}
//
// What is under test is one of three fields of [Suite]: Compiler is Go code, Command is a program in any language that speaks
// the protocol of docs/compilers.md, ControlPlane is a server that serves the filters over ADS. A program that is no test
// calls [Suite.Run].
//
// What the package guarantees:
//
//   - The report names every case of the chosen profiles: passed, failed, or skipped with the reason.
//
//   - A case never fails for a feature that the compiler does not claim. It is never left out for a feature that it claims.
//
//   - A compiler that is out of order never counts as a compiler that refuses policies.
//
//   - Without a complete Implementation no report is written of a compiler that is not meshproof's own.
//
//   - The filters of the compiler are read back: what they decide otherwise than the policies of a case, and what cannot be
//     read in them, fails the case, even if all its requests pass.
//
//   - Where there are profiles or a report, the compiler is also asked about policies that were drawn for the run.
//
// What it does not: a case that passes proves nothing about other policies. The command meshproof prove asks every class of
// requests on Envoy.
//
// It needs Docker, or python3 with pip, to get Envoy; see package harness. The report is a folder; docs/report.md describes it.
package conformance
