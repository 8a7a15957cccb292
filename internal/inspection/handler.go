package inspection

import (
	"fmt"
	"net/http"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy/language"
)

// Open reads the documents of files and folders, as [lab.OpenDocuments] does. Those that
// [Handler] takes beside policies are among the policies.
func Open(paths ...string) (*lab.Files, error) {
	files, err := lab.OpenDocuments(lab.Choice{}, paths...)
	if err == nil {
		files.Take(inspector().Reads)
	}
	return files, err
}

func inspector() capability.Inspector { return dialects.Having[capability.Inspector]()[0] }

// Handler serves what the policies of files do to the inbounds of their Dataplanes. Files with
// cases are an error: those state inbounds of their own.
func Handler(files *lab.Files, opts language.Options) (http.Handler, error) {
	if files.HasCases {
		return nil, fmt.Errorf("inspect: %s: it has cases, which state inbounds of their own: name a folder with policies and Dataplanes", files.Name)
	}
	return inspector().Inspect(files.Policies, opts)
}
