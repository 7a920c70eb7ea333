package main

import (
	"strings"
	"testing"
)

// A cluster of Yorkie's needs no profile: nothing is written to a file, and the exit code says so.
func TestNothingIsProposedForYorkiesData(t *testing.T) {
	uri := startCluster(t)
	code, out, errs := shardboard(t, "profile", "propose", "--uri", uri)
	if code != 3 || out != "" || !strings.Contains(errs, "fits the built-in profile yorkie") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	code, out, errs = shardboard(t, "profile", "propose", "--uri", uri, "--database", "yorkie-meta")
	if code != 0 || !strings.Contains(out, "tenant: project_id\n") || !strings.Contains(out, "collection: projects\n") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
