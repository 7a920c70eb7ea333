package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/simcluster"
)

// shardboard runs a command line and returns its exit code and output.
func shardboard(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestInvalidCommandLinesEndWithOneLineAndAnExitCode(t *testing.T) {
	dir := t.TempDir()
	oidc := []string{
		"serve",
		"--uri",
		"mongodb://127.0.0.1:1",
		"--listen",
		"127.0.0.1:0",
		"--data-dir",
		filepath.Join(dir, "data"),
		"--audit-key",
		filepath.Join(dir, "key"),
		"--auth",
		"oidc",
		"--oidc-issuer",
		"https://issuer.example",
		"--oidc-client-id",
		"board",
		"--oidc-role-map",
		"ops=operator",
	}
	tests := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no cluster", []string{"serve"}, 2, "No cluster given"},
		{"not an address", []string{"serve", "--uri", "http://x"}, 2, "mongodb://"},
		{"uri twice", []string{"serve", "--uri", "mongodb://x", "--uri-file", "/nope"}, 2, "not both"},
		{"no such file", []string{"locate", "x", "--uri-file", "/no/such/file"}, 2, "/no/such/file, cannot be read: no such file or directory"},
		{"an address as file", []string{"locate", "x", "--uri-file", "mongodb://u:p@h/"}, 2, "is an address itself"},
		{"public listen", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "0.0.0.0:0"}, 2, "without TLS"},
		{
			"public listen without sign-in",
			[]string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "0.0.0.0:0", "--auth", "none"},
			2,
			"nobody has to sign in",
		},
		{"too few chunks", []string{"bench", "--chunks=10"}, 2, "--chunks must be between"},
		{"too many sockets", []string{"bench", "--sockets=50000"}, 2, "--sockets must be between"},
		{"too short", []string{"bench", "--idle=1s"}, 2, "--idle must be between"},
		{"no turns", []string{"bench", "--turns=0"}, 2, "--turns must be between"},
		{"too many chunks", []string{"simcluster", "--many-chunks=2000000000"}, 2, "--many-chunks must be between"},
		{"idle time of zero", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--session-idle=0"}, 2, "--session-idle"},
		{
			"no connections",
			[]string{"serve", "--uri", "mongodb://127.0.0.1:1", "--max-connections=0"},
			2,
			"--max-connections 0 is not between 64 and 1000000",
		},
		{"no number of connections", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--max-connections=many"}, 2, "many"},
		{"session time of zero", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--session-max=0s"}, 2, "--session-max"},
		{
			"no window",
			[]string{
				"serve",
				"--uri",
				"mongodb://127.0.0.1:1",
				"--auth",
				"none",
				"--maintenance-window",
				"01:00-02:00",
				"--maintenance-window",
				"Sat,Sun 25:00-06:00",
			},
			2,
			`"Sat,Sun 25:00-06:00" is not usable`,
		},
		{"no scope", slices.Concat(oidc, []string{"--oidc-scopes", "profile email,gr\"oups"}), 2, "is not a scope"},
		{"no claim", slices.Concat(oidc, []string{"--oidc-groups-claim", "a\nb"}), 2, "--oidc-groups-claim is not the name of a claim"},
		{"unknown sign-in method", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--auth", "all"}, 2, "Unknown sign-in method"},
		{
			"no list of leaked passwords",
			[]string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "127.0.0.1:0", "--leaked-passwords", "cli.go"},
			2,
			"line 1",
		},
		{"account without server", []string{"user", "list", "--server", "http://127.0.0.1:1"}, 6, "No server answers"},
		{"no such role", []string{"user", "role", "anna", "root"}, 2, "must be one of"},
		{"listen without port", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "127.0.0.1"}, 2, "not host:port"},
		{"unreachable", []string{"locate", "x", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300"}, 6, "127.0.0.1:1"},
		{"neither on nor off", []string{"doctor", "--actions", "maybe", "--uri", "mongodb://127.0.0.1:1"}, 2, "must be one of"},
		{"no server", []string{"healthcheck", "--server", "http://127.0.0.1:1"}, 6, "No server answers"},
		{"no server to take over", []string{"takeover", "--server", "http://127.0.0.1:1"}, 6, "No server answers"},
		{
			"no such profile",
			[]string{"locate", "x", "--uri", "mongodb://127.0.0.1:1", "--profile", "/no/such/shop.yaml"},
			2,
			"The profile /no/such/shop.yaml cannot be read: no such file",
		},
		{"profile of another kind", []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--profile", "cli.go"}, 2, "cli.go:"},
		{
			"demo over a real cluster",
			[]string{"serve", "--uri", "mongodb://127.0.0.1:1", "--auth", "demo", "--actions", "on"},
			2,
			"Refusing --auth demo",
		},
		{
			"demo for the network",
			[]string{"demo", "--still", "--documents", "1", "--projects", "1", "--mongo-listen", "127.0.0.1:0", "--listen", "0.0.0.0:0"},
			2,
			"Choose a --listen on loopback",
		},
		{"demo's cluster for the network", []string{"demo", "--mongo-listen", "0.0.0.0:0"}, 2, "Choose a --mongo-listen on loopback"},
		{"bad layout", []string{"simcluster", "--layout", "nope"}, 2, "layout"},
		{"auth without users", []string{"simcluster", "--auth"}, 2, "go together"},
		{"no such users", []string{"simcluster", "--auth", "--user-file", "/no/such/file"}, 2, "cannot be read"},
		{"certificate without key", []string{"simcluster", "--tls-cert", "c.pem"}, 2, "go together"},
		{"CA without certificate", []string{"simcluster", "--tls-ca", "ca.pem"}, 2, "--tls-ca"},
		{"optional certificates without CA", []string{"simcluster", "--tls-allow-connections-without-certificates"}, 2, "needs --tls-ca"},
		{"no such certificate", []string{"simcluster", "--tls-cert", "/no/such", "--tls-key", "/no/such"}, 2, "cannot be read"},
		{"no transaction lifetime", []string{"simcluster", "--transaction-lifetime=0s"}, 2, "--transaction-lifetime"},
		{"config shard on 5.0", []string{"simcluster", "--config-shard"}, 2, "8.0"},
		{"unknown interference", []string{"simcluster", "--interfere=weather"}, 2, "--interfere"},
		{"negative migration time", []string{"simcluster", "--migration-time=-1s"}, 2, "--migration-time"},
		{"no orphan delay", []string{"simcluster", "--orphan-delay=0s"}, 2, "--orphan-delay"},
		{"no shards", []string{"simcluster", "--shards", "0"}, 2, "--shards"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			code, _, stderr := shardboard(t, tc.args...)
			last := stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:]
			if code != tc.code || !strings.Contains(last, tc.says) {
				t.Errorf("exit %d, last line %q; want %d and %q", code, last, tc.code, tc.says)
			}
		})
	}
}

func TestPasswordsOfURIsAreNeverPrinted(t *testing.T) {
	t.Setenv("SHARDBOARD_URI", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=200")
	_, out, errs := shardboard(t, "locate", "x")
	if strings.Contains(out+errs, "s3cr3t") {
		t.Errorf("the password is in the output: %s%s", out, errs)
	}
}

func TestVersionIsPrinted(t *testing.T) {
	if code, out, _ := shardboard(t, "version"); code != 0 || !strings.HasPrefix(out, "shardboard ") {
		t.Errorf("unexpected code %d, output %q", code, out)
	}
}

// startCluster serves a small simulated cluster on loopback and returns its URI.
func startCluster(t *testing.T) string { return startClusterOf(t, "") }

// startClusterOf starts a cluster of a release; "" is the default one.
func startClusterOf(t *testing.T, release string) string {
	t.Helper()
	c, err := simcluster.New(t.Context(), simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: release})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Serve(l) }()
	t.Cleanup(func() { _ = c.Close(); <-done })
	return mongoURI(l)
}

func TestLocateAnswersOnTheCommandLine(t *testing.T) {
	uri := startCluster(t)
	code, out, errs := shardboard(t, "locate", "atlas-board", "--uri", uri)
	if code != 0 || !strings.Contains(out, "project ") || !strings.Contains(out, "yorkie-meta.documents") ||
		!strings.Contains(out, "shard-rs-") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	code, out, _ = shardboard(
		t,
		"locate",
		"--json",
		"--ns",
		"yorkie-meta.changes",
		"--key",
		`{"doc_id":{"$oid":"507f1f77bcf86cd799439011"}}`,
		"--uri",
		uri,
	)
	var answer struct {
		Items []struct {
			Places []struct{ Hash, Shard string }
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
	if p := answer.Items[0].Places[0]; p.Hash != "-3048436677993134862" || p.Shard == "" {
		t.Errorf("unexpected placement: %+v", p)
	}
	if code, _, errs := shardboard(t, "locate", "nobody", "--uri", uri); code != 3 || !strings.Contains(errs, "No project") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

func TestTerminalOutputHasNoControlCharacters(t *testing.T) {
	evil := "a\x1b[31mred\u202etxt\r\n\tx"
	items := []api.LocateItem{{Kind: "document", ID: evil, Name: evil, ProjectName: evil, Answer: evil, Places: []api.Place{{
		NS: evil, Shards: []string{evil}, Sharded: true, Min: []byte(evil), Max: []byte(evil), Sentence: evil,
		Why: &api.Why{Steps: []api.WhyStep{{Step: evil, Text: evil}}}, Proof: &api.Proof{Text: evil}, Rows: &api.Figure{Reason: evil},
	}}}}
	var out bytes.Buffer
	if err := printItems(&out, items); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\x1b\r\t\u202e") || strings.Count(got, "\n") != 8 || !strings.Contains(got, `\u{202e}`) {
		t.Errorf("unexpected output: %q", got)
	}
}

func TestSimclusterStopsWithItsContextAndFreesThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := &signalWriter{written: make(chan struct{})}
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"simcluster", "--listen", addr, "--projects", "3", "--documents", "30"}, out, &errs)
	}()
	select {
	case <-out.written: // the URI is printed once the cluster listens
	case code := <-ended:
		t.Fatalf("simcluster ended early with exit code %d: %s", code, errs.String())
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	again, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	again.Close()
}

// signalWriter closes a channel at the first write.
type signalWriter struct {
	written chan struct{}
	told    bool
}

func (w *signalWriter) Write(p []byte) (int, error) {
	if !w.told {
		w.told = true
		close(w.written)
	}
	return len(p), nil
}
