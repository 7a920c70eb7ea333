package main

import (
	"strings"
	"testing"
)

func TestPostmortemIsPrintedAsMarkdown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	server := startServer(t)
	for _, c := range []struct {
		args []string
		ok   bool
		want string
	}{
		{nil, true, "# Post-mortem: "},
		{[]string{"--last", "2h"}, true, "## What was done with shardboard"},
		{[]string{"--last", "2h", "--to", "2026-03-01T00:00:00Z"}, false, "Give --last"},
		{[]string{"--from", "yesterday"}, false, "from must be a time"},
	} {
		code, out, errs := shardboard(t, append([]string{"postmortem", "--server", server}, c.args...)...)
		if (code == 0) != c.ok || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}
