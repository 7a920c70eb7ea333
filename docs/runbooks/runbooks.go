// Package runbooks is the text of the runbooks, for the pages below /runbooks. An alert of Prometheus leads there.
package runbooks

import "embed"

// Files are the runbooks, by name: "cluster-down.md". README.md is their list in the repository.
//
//go:embed *.md
var Files embed.FS
