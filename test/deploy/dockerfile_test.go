package deploy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// stages parses the Dockerfile as BuildKit does, with its warnings.
func stages(t *testing.T) ([]instructions.Stage, []instructions.ArgCommand) {
	t.Helper()
	f, err := os.Open("../../Dockerfile")
	must(t, err)
	defer f.Close()
	tree, err := parser.Parse(f)
	must(t, err)
	for _, w := range tree.Warnings {
		t.Errorf("%s: %s", w.Short, w.URL)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		t.Errorf("%s: %s (%v)", rule, message, at)
	}})
	out, args, err := instructions.Parse(tree.AST, lint)
	must(t, err)
	return out, args
}

// What the image of a release is, this is too: tools/release has a test with the same values.
func TestTheDockerfileMakesTheImageOfTheRelease(t *testing.T) {
	all, _ := stages(t)
	if len(all) != 2 || all[1].BaseName != "scratch" {
		t.Fatalf("%d stages, the last from %s", len(all), all[len(all)-1].BaseName)
	}
	var got []string
	for _, c := range all[1].Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			got = append(got, "user "+c.User)
		case *instructions.EntrypointCommand:
			got = append(got, "entrypoint "+strings.Join(c.CmdLine, " ")+shellForm(c.PrependShell))
		case *instructions.CmdCommand:
			got = append(got, "cmd "+strings.Join(c.CmdLine, " ")+shellForm(c.PrependShell))
		case *instructions.HealthCheckCommand:
			got = append(got, "health "+strings.Join(c.Health.Test, " ")+" "+c.Health.Interval.String()+" "+c.Health.Timeout.String())
		case *instructions.StopSignalCommand:
			got = append(got, "signal "+c.Signal)
		case *instructions.VolumeCommand:
			got = append(got, "volumes "+strings.Join(c.Volumes, " "))
		case *instructions.EnvCommand:
			for _, e := range c.Env {
				got = append(got, "env "+e.Key+"="+e.Value)
			}
		case *instructions.ExposeCommand:
			got = append(got, "ports "+strings.Join(c.Ports, " "))
		case *instructions.RunCommand:
			t.Error("a stage from scratch cannot run anything")
		}
	}
	want := []string{"env SHARDBOARD_DATA_DIR=/data", "env SHARDBOARD_AUDIT_KEY=/keys/audit.key", "volumes /data /keys", "user 65532:65532",
		"ports 8090 8091", "signal SIGTERM", "health CMD /shardboard healthcheck 15s 3s", "entrypoint /shardboard", "cmd serve"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func shellForm(yes bool) string {
	if yes {
		return " (in a shell)"
	}
	return ""
}

// Go's release decides what is built, so it is pinned to the patch, and is that of the module.
func TestTheDockerfileBuildsWithAPinnedRelease(t *testing.T) {
	all, args := stages(t)
	if len(args) != 1 || args[0].Args[0].Value == nil || !regexp.MustCompile(`^golang:1\.26\.\d+-bookworm$`).MatchString(*args[0].Args[0].Value) {
		t.Errorf("arguments %v", args)
	}
	if all[0].BaseName != "${GO_IMAGE}" {
		t.Errorf("built from %s", all[0].BaseName)
	}
}
