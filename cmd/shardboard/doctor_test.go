package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// startSecuredCluster serves a simulated cluster with access control and a user who has
// only two empty roles. It returns a file with that user's URI.
func startSecuredCluster(t *testing.T) (*simcluster.Cluster, string) {
	t.Helper()
	c := must.Get(simcluster.New(
		t.Context(),
		simcluster.Options{Projects: 3, Documents: 20, Still: true, Users: []access.User{{Name: "root", Password: "pw"}}},
	))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	done := make(chan error, 1)
	go func() { done <- c.Serve(l) }()
	t.Cleanup(func() { _ = c.Close(); <-done })
	roles := bson.A{"shardboardViewer", "shardboardOperator"}
	for _, r := range roles {
		runCommand(t, c, bson.D{{Key: "createRole", Value: r}, {Key: "privileges", Value: bson.A{}}, {Key: "roles", Value: bson.A{}}})
	}
	runCommand(t, c, bson.D{{Key: "createUser", Value: "dash"}, {Key: "pwd", Value: "s3cr3t"}, {Key: "roles", Value: roles}})
	file := filepath.Join(t.TempDir(), "uri")
	must.Do(t, os.WriteFile(file, []byte(strings.Replace(mongoURI(l), "mongodb://", "mongodb://dash:s3cr3t@", 1)), 0o600))
	return c, file
}

func runCommand(t *testing.T, c *simcluster.Cluster, cmd bson.D) {
	t.Helper()
	must.Do(t, must.Err(c.Command(t.Context(), "admin", cmd)))
}

func TestDoctorFindsNothingWhenEverythingIsAllowed(t *testing.T) {
	code, out, errs := shardboard(t, "doctor", "--actions", "on", "--uri", startCluster(t))
	expect.That(t, code == 0 && errs == "" && !strings.Contains(out, "lacks") && !strings.Contains(out, "unknown") &&
		strings.Contains(out, "is a mongos") && strings.Contains(out, "no access control") && strings.Contains(out, "locate in yorkie-meta"),
		"exit %d\n%s%s", code, out, errs)
}

// The printed commands grant exactly what is missing.
func TestTheCommandsOfTheDoctorGrantAllThatIsMissing(t *testing.T) {
	c, uri := startSecuredCluster(t)
	code, out, errs := shardboard(t, "doctor", "--actions", "on", "--database", "yorkie-meta", "--uri-file", uri)
	if code != 1 || strings.Count(errs, "\n") != 1 || strings.Contains(out+errs, "s3cr3t") || !strings.Contains(out, "as dash@admin") ||
		!strings.Contains(out, "find on config.collections, config.chunks, config.shards, config.databases. Nothing can be shown or located.") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	granted := 0
	for line := range strings.Lines(out) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), `db.getSiblingDB("admin").grantPrivilegesToRole(`)
		if !ok {
			continue
		}
		granted++
		role, list, _ := strings.Cut(strings.TrimSuffix(args, ")"), ", ")
		var cmd bson.D
		err := bson.UnmarshalExtJSON([]byte(`{"grantPrivilegesToRole": `+role+`, "privileges": `+list+`}`), true, &cmd)
		must.That(t, err == nil, "%s: unexpected error: %v", line, err)
		runCommand(t, c, cmd)
		// After the grants for viewing, nothing is missing without actions.
		code, out, errs := shardboard(t, "doctor", "--uri-file", uri)
		expect.That(t, code == 0, "exit %d\n%s%s", code, out, errs)
	}
	code, out, errs = shardboard(t, "doctor", "--actions", "on", "--uri-file", uri)
	expect.That(t, code == 0 && granted == 2, "%d commands, exit %d\n%s%s", granted, code, out, errs)
}

func TestDoctorReportsAsJSON(t *testing.T) {
	_, uri := startSecuredCluster(t)
	code, out, _ := shardboard(t, "doctor", "--json", "--uri-file", uri)
	var report api.DoctorReport
	err := json.Unmarshal([]byte(out), &report)
	must.That(t, err == nil, "%v\n%s", err, out)
	expect.That(t, code == 1 && !report.OK && len(report.Users) == 1 && len(report.Remedies) == 1 && report.Features[0].Code == "routing" &&
		report.Features[0].State == "lacks" && report.Features[0].Lacks[1] == "find on config.chunks" && !strings.Contains(out, "s3cr3t"),
		"exit %d\n%s", code, out)
}

func TestDoctorPrintsHostileNamesOnOneLine(t *testing.T) {
	_, out, _ := shardboard(t, "doctor", "--database", "x\x1b[2J\u202e\"y", "--uri", startCluster(t))
	expect.That(t, !strings.ContainsAny(out, "\x1b\u202e") && strings.Contains(out, `projects in x\u{001b}[2J\u{202e}"y`),
		"unexpected output: %s", out)
}

// Every feature and check code has a text.
func TestDoctorHasATextForEveryFeature(t *testing.T) {
	_, out, _ := shardboard(t, "doctor", "--json", "--uri", startCluster(t))
	var report api.DoctorReport
	must.Do(t, json.Unmarshal([]byte(out), &report))
	// Some are only in later releases.
	used := map[string]bool{"distribution": true, "owners": true, "moveCollection": true, "unshard": true, "configShard": true}
	for _, f := range report.Features {
		used[f.Code] = true
	}
	for code := range used {
		expect.That(t, withoutFeature[code] != "", "no text for %s", code)
	}
	expect.That(t, len(withoutFeature) == len(used), "%d texts for %d features", len(withoutFeature), len(used))
	for _, c := range report.Checks {
		expect.That(t, checkText(c) != "", "no text for %+v", c)
	}
}

// Options that the driver ignores are named with what to write instead, by the doctor and by check-config.
func TestOptionsWithoutEffectAreNamed(t *testing.T) {
	uri := startCluster(t) + "&sslCAFile=/ca.pem"
	const want = "The option sslCAFile of the address is ignored: write tlsCAFile."
	says(t, 0, want, "doctor", "--actions", "on", "--uri", uri)
	file := filepath.Join(t.TempDir(), "shardboard.yaml")
	must.Do(t, os.WriteFile(file, []byte("uri: "+uri+"\n"), 0o600))
	saysAll(t, 0, []string{"warning: mongodb://", want}, "check-config", file)
	for _, wrong := range []string{"mongodb://h/?proxyHost=p", `"mongodb://h/"`, "\ufeffmongodb://h/"} {
		if code, _, errs := shardboard(t, "doctor", "--uri", wrong); code == 0 ||
			!strings.Contains(errs, "past the proxy") && !strings.Contains(errs, "quotes") && !strings.Contains(errs, "BOM") {
			t.Errorf("%q: exit %d, %s", wrong, code, errs)
		}
	}
}
