package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/bench"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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

// says runs a command line, which has to end with a code and to say a part of text: on stdout, or on stderr with
// another code than 0.
func says(t *testing.T, code int, part string, args ...string) {
	t.Helper()
	saysAll(t, code, []string{part}, args...)
}

// saysAll is says of several parts.
func saysAll(t *testing.T, code int, parts []string, args ...string) {
	t.Helper()
	got, out, errs := shardboard(t, args...)
	said := out
	if code != 0 {
		said = errs
	}
	expect.That(t, got == code, "%v: exit %d, expected %d: %s%s", args, got, code, out, errs)
	expect.ContainsAll(t, said, parts, "%v", args)
}

func TestInvalidCommandLinesEndWithOneLineAndAnExitCode(t *testing.T) {
	dir := t.TempDir()
	serve := "serve --uri mongodb://127.0.0.1:1 "
	oidc := serve + "--listen 127.0.0.1:0 --auth oidc --oidc-issuer https://issuer.example --oidc-client-id board " +
		"--oidc-role-map ops=operator " +
		"--data-dir " + dir + "/data --audit-key " + dir + "/key "
	for _, tc := range []struct{ line, says string }{ // '_' in a line is a space of a word
		{"serve", "No cluster given"},
		{"serve --uri http://x", "mongodb://"},
		{"serve --uri mongodb://x --uri-file /nope", "not both"},
		{"locate x --uri-file /no/such/file", "/no/such/file, cannot be read: no such file or directory"},
		{"locate x --uri-file mongodb://u:p@h/", "is an address itself"},
		{serve + "--listen 0.0.0.0:0", "without TLS"},
		{serve + "--listen 0.0.0.0:0 --auth none", "nobody has to sign in"},
		{"bench --chunks=10", "--chunks must be between"},
		{"bench --sockets=50000", "--sockets must be between"},
		{"bench --idle=1s", "--idle must be between"},
		{"bench --turns=0", "--turns must be between"},
		{"simcluster --many-chunks=2000000000", "--many-chunks must be between"},
		{serve + "--session-idle=0", "--session-idle"},
		{serve + "--session-max=0s", "--session-max"},
		{serve + "--max-connections=0", "--max-connections 0 is not between 64 and 1000000"},
		{serve + "--max-connections=many", "many"},
		{serve + "--auth none --maintenance-window 01:00-02:00 --maintenance-window Sat,Sun_25:00-06:00", `"Sat,Sun 25:00-06:00" is not usable`},
		{oidc + `--oidc-scopes profile_email,gr"oups`, "is not a scope"},
		{oidc + "--oidc-groups-claim a\u202eb", "--oidc-groups-claim is not the name of a claim"},
		{serve + "--auth all", "Unknown sign-in method"},
		{serve + "--listen 127.0.0.1:0 --leaked-passwords cli.go", "line 1"},
		{"user role anna root", "must be one of"},
		{serve + "--listen 127.0.0.1", "not host:port"},
		{"doctor --actions maybe --uri mongodb://127.0.0.1:1", "must be one of"},
		{"locate x --uri mongodb://127.0.0.1:1 --profile /no/such/shop.yaml", "The profile /no/such/shop.yaml cannot be read: no such file"},
		{serve + "--profile cli.go", "cli.go:"},
		{serve + "--auth demo --actions on", "Refusing --auth demo"},
		{"demo --still --documents 1 --projects 1 --mongo-listen 127.0.0.1:0 --listen 0.0.0.0:0", "Choose a --listen on loopback"},
		{"demo --mongo-listen 0.0.0.0:0", "Choose a --mongo-listen on loopback"},
		{"simcluster --layout nope", "layout"},
		{"simcluster --auth", "go together"},
		{"simcluster --auth --user-file /no/such/file", "cannot be read"},
		{"simcluster --tls-cert c.pem", "go together"},
		{"simcluster --tls-ca ca.pem", "--tls-ca"},
		{"simcluster --tls-allow-connections-without-certificates", "needs --tls-ca"},
		{"simcluster --tls-cert /no/such --tls-key /no/such", "cannot be read"},
		{"simcluster --transaction-lifetime=0s", "--transaction-lifetime"},
		{"simcluster --server-version 7.0 --config-shard", "8.0"},
		{"simcluster --interfere=weather", "--interfere"},
		{"simcluster --migration-time=-1s", "--migration-time"},
		{"simcluster --orphan-delay=0s", "--orphan-delay"},
		{"simcluster --shards 0", "--shards"},
	} {
		expectRefused(t, 2, tc.line, tc.says)
	}
	for line, says := range map[string]string{
		"user list --server http://127.0.0.1:1":                              "No server answers",
		"healthcheck --server http://127.0.0.1:1":                            "No server answers",
		"takeover --server http://127.0.0.1:1":                               "No server answers",
		"locate x --uri mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300": "127.0.0.1:1",
	} {
		expectRefused(t, 6, line, says)
	}
	t.Setenv("SHARDBOARD_URI", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=200")
	_, out, errs := shardboard(t, "locate", "x")
	expect.That(t, !strings.Contains(out+errs, "s3cr3t"), "the password is in the output: %s%s", out, errs)
}

func expectRefused(t *testing.T, want int, line, says string) {
	t.Helper()
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "_", " ")
	}
	code, _, stderr := shardboard(t, args...)
	last := stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:]
	expect.That(t, code == want && strings.Contains(last, says), "%s: exit %d, last line %q; want %d and %q", line, code, last, want, says)
}

func TestVersionIsPrinted(t *testing.T) {
	code, out, _ := shardboard(t, "version")
	expect.That(t, code == 0 && strings.HasPrefix(out, "shardboard "), "unexpected code %d, output %q", code, out)
}

// startCluster serves a small simulated cluster on loopback and returns its URI.
func startCluster(t *testing.T) string { return startClusterOf(t, "") }

// startClusterOf starts a cluster of a release; "" is the default one.
func startClusterOf(t *testing.T, release string) string {
	t.Helper()
	c, err := simcluster.New(t.Context(), simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: release})
	must.Do(t, err)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	done := make(chan error, 1)
	go func() { done <- c.Serve(l) }()
	t.Cleanup(func() { _ = c.Close(); <-done })
	return mongoURI(l)
}

func TestLocateAnswersOnTheCommandLine(t *testing.T) {
	uri := startCluster(t)
	code, out, errs := shardboard(t, "locate", "atlas-board", "--uri", uri)
	expect.That(t, code == 0 && strings.Contains(out, "project ") && strings.Contains(out, "yorkie-meta.documents") &&
		strings.Contains(out, "shard-rs-"), "exit %d\n%s%s", code, out, errs)
	code, out, _ = shardboard(t, "locate", "--json", "--ns", "yorkie-meta.changes",
		"--key", `{"doc_id":{"$oid":"507f1f77bcf86cd799439011"}}`, "--uri", uri)
	var answer struct {
		Items []struct {
			Places []struct{ Hash, Shard string }
		}
	}
	err := json.Unmarshal([]byte(out), &answer)
	must.That(t, code == 0 && err == nil, "exit %d, %v\n%s", code, err, out)
	p := answer.Items[0].Places[0]
	expect.That(t, p.Hash == "-3048436677993134862" && p.Shard != "", "unexpected placement: %+v", p)
	says(t, 3, "No project", "locate", "nobody", "--uri", uri)
}

func TestTerminalOutputHasNoControlCharacters(t *testing.T) {
	evil := "a\x1b[31mred\u202etxt\r\n\tx"
	items := []api.LocateItem{{Kind: "document", ID: evil, Name: evil, ProjectName: evil, Answer: api.Plain(evil), Places: []api.Place{{
		NS: evil, Shards: []string{evil}, Sharded: true, Min: []byte(evil), Max: []byte(evil), Sentence: evil,
		Why: &api.Why{Steps: []api.WhyStep{{Step: evil, Text: api.Plain(evil)}}}, Proof: &api.Proof{Text: evil}, Rows: &api.Figure{Reason: evil},
	}}}}
	var out bytes.Buffer
	must.Do(t, printItems(&out, items, app.Words{}))
	if got := out.String(); strings.ContainsAny(got, "\x1b\r\t\u202e") || strings.Count(got, "\n") != 8 || !strings.Contains(got, `\u{202e}`) {
		t.Errorf("unexpected output: %q", got)
	}
}

func TestSimclusterStopsWithItsContextAndFreesThePort(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var errs bytes.Buffer
	out := &cancelOnText{cancel: cancel} // the address is printed once the cluster listens
	code := run(ctx, []string{"simcluster", "--listen", addr, "--projects", "3", "--documents", "30"}, out, &errs)
	expect.That(t, code == 0, "exit %d: %s", code, errs.String())
	again, err := net.Listen("tcp", addr)
	must.That(t, err == nil, "the port is not free: %v", err)
	again.Close()
}

func TestAnAddressInUseNamesTheFlagThatChangesIt(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	used := l.Addr().String()
	for flag, args := range map[string][]string{
		"--mongo-listen": {"demo", "--listen", "127.0.0.1:0", "--mongo-listen", used, "--documents", "10", "--projects", "2"},
		"--listen":       {"simcluster", "--listen", used, "--documents", "10", "--projects", "2"},
	} {
		code, _, stderr := shardboard(t, args...)
		expect.That(t, code != 0 && strings.Contains(stderr, "Choose another address with "+flag+"."), "%v: %d %s", args, code, stderr)
	}
}

func TestFiguresStandBesideTheirBoundsWithAVerdict(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	within := bench.Figure{Name: "index keys examined", Value: number(1240), Bound: number(2000), Unit: "/min"}
	over := bench.Figure{Name: "first load ÷ drain", Value: number(1.5), Bound: number(1.25)}
	for _, c := range []struct {
		figures []bench.Figure
		want    []string
	}{
		{[]bench.Figure{within}, []string{"1240 /min", "2000 /min", "ok", "Within their bounds: all 1."}},
		{[]bench.Figure{within, over}, []string{"1.50", "1.25", "OVER", "Over the bound: first load ÷ drain (1 of 2)."}},
		{[]bench.Figure{within, {Name: "memory of a socket", Note: "this system does not tell"}}, []string{"not measured", "all 1"}},
	} {
		var out strings.Builder
		must.Do(t, printFigures(&out, bench.Report{Figures: c.figures}))
		expect.ContainsAll(t, out.String(), c.want, "the text")
	}
	expect.Equal(t, fault.Of(figuresOver{}).ExitCode(), 1, "the exit code of a figure over its bound")
}

// With --log-format json every line that serve writes for a machine is JSON, its end too.
func TestLogAsJSON(t *testing.T) {
	var stderr bytes.Buffer
	t.Setenv("SHARDBOARD_URI", "")
	code := run(t.Context(), []string{"serve", "--log-format", "json", "--data-dir", t.TempDir()}, io.Discard, &stderr)
	expect.That(t, code != 0, "it serves without a cluster")
	for line := range strings.Lines(stderr.String()) {
		var got map[string]any
		err := json.Unmarshal([]byte(line), &got)
		expect.That(t, err == nil && got["level"] == "ERROR" && got["why"] != "", "%q: %v", line, err)
	}
	expect.That(t, stderr.Len() != 0, "nothing is logged")
	var out bytes.Buffer
	newLog(&out, "json", slog.LevelWarn).Info("left out")
	newLog(&out, "json", slog.LevelWarn).Warn("said\nso", "a", "b")
	if !strings.Contains(out.String(), `"msg":"said\nso","a":"b"`) || strings.Contains(out.String(), "left out") {
		t.Error(out.String())
	}
	stderr.Reset()
	code = run(t.Context(), []string{"version", "--log-format", "xml"}, io.Discard, &stderr)
	expect.That(t, code != 0 &&
		strings.Contains(stderr.String(), `--log-format must be one of "text","json"`), "%d: %s", code, stderr.String())
}
