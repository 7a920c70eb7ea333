package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"shardboard/internal/app"
	"shardboard/internal/configfile"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// readConfig reads a configuration file with some flags beside it.
func readConfig(t *testing.T, text string, flags ...string) (app.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shardboard.yaml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	e := &env{ctx: context.Background(), stdout: io.Discard, stderr: io.Discard, log: slog.New(slog.DiscardHandler),
		args: append([]string{"serve", "--config", path}, flags...)}
	return readWithFile(e, path)
}

func TestExamplesOfTheConfigurationAreInOrder(t *testing.T) {
	doc := must.Get(os.ReadFile("../../docs/config.md"))
	t.Setenv("STAGING_PASSWORD", "secret")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prod.uri": "mongodb://127.0.0.1:1/", "mongodb.uri": "mongodb://127.0.0.1:2/",
		"alerts.yaml": "targets:\n- name: a\n  format: generic\n  url: https://alerts.example/\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	for i, m := range examples {
		text := regexp.MustCompile(`(/run/secrets|/etc/shardboard)/`).ReplaceAllString(m[1], dir+"/")
		c, err := readConfig(t, text)
		expect.That(t, err == nil, "example %d: %v", i+1, err)
		expect.That(t, i != 0 || len(c.Clusters) == 2 && c.Clusters[0].Actions && !c.Clusters[1].Actions && len(c.Clusters[0].Roles) == 3 &&
			c.Clusters[1].Title == "staging" && c.Clusters[1].HoldingsPerMinute == -1 && c.Clusters[0].Alerts != nil, "%+v", c.Clusters)
	}
	expect.That(t, len(examples) >= 2, "%d examples", len(examples))
}

// -update writes the table.
func TestTheTableOfSettingsIsThatOfTheProgram(t *testing.T) {
	const path = "../../docs/config.md"
	page := must.Get(os.ReadFile(path))
	parser := parserOf(t)
	kinds := settingsOfServe(parser)
	flags := slices.DeleteFunc(slices.Clone(flagsOfServe(parser)), func(f *kong.Flag) bool { return kinds[f.Name].Type == "" })
	slices.SortFunc(flags, func(a, b *kong.Flag) int { return strings.Compare(a.Name, b.Name) })
	table := "| key | form | default | meaning |\n|---|---|---|---|\n"
	for _, f := range flags {
		byDefault := "–"
		if f.HasDefault {
			byDefault = "`" + f.Default + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s |\n", f.Name, kinds[f.Name].Type, byDefault, strings.ReplaceAll(f.Help, "|", "\\|"))
	}
	before, rest, begins := strings.Cut(string(page), "<!-- settings -->\n")
	found, after, ends := strings.Cut(rest, "<!-- end -->")
	switch {
	case !begins || !ends || len(flags) < 30:
		t.Fatalf("no marks of the table, or only %d settings", len(flags))
	case found == table:
	case *update:
		must.Do(t, os.WriteFile(path, []byte(before+"<!-- settings -->\n"+table+"<!-- end -->"+after), 0o644))
	default:
		t.Errorf("the table of %s is out of date: run this test with -update", path)
	}
}

// serve and check-config read the file the same way.
func TestPasswordInAConfigurationThatOthersMayReadIsRefused(t *testing.T) {
	t.Setenv("PW", "secret")
	t.Setenv("HOST", "h:1")
	for text, secret := range map[string]bool{
		"uri: mongodb://u:p@h:1/":                                                                       true,
		"uri: mongodb://h:1/":                                                                           false,
		"uri: mongodb://u@h:1/":                                                                         false,
		"uri: mongodb://h:1/?tlsCertificateKeyFilePassword=p":                                           true,
		"{uri: 'mongodb://h:1/', store: 'mongodb://u:p@h:2/boards'}":                                    true,
		"{uri: 'mongodb://h:1/', store: 'mongodb://h:2/boards'}":                                        false,
		"{uri: 'mongodb://h:1/', public-url: 'https://u:p@board.example'}":                              true,
		"clusters: [{name: a, uri: 'mongodb://u:p@h:1/'}]":                                              true,
		"clusters: [{name: a, uri: 'mongodb://u:p@${HOST}/'}]":                                          true,
		"clusters: [{name: a, uri: 'mongodb://u:p${PW}@h:1/'}]":                                         true,
		"clusters: [{name: a, uri: 'mongodb://u:${PW}@h:1/'}]":                                          false,
		"clusters: [{name: a, uri: 'mongodb://h:1/?proxyPassword=p&x=${PW}'}]":                          true,
		"clusters: [{name: a, uri: 'mongodb://h:1/?authMechanismProperties=AWS_SESSION_TOKEN:t${PW}'}]": true,
	} {
		path := filepath.Join(t.TempDir(), "shardboard.yaml")
		must.Do(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		for _, mode := range []os.FileMode{0o600, 0o644} {
			must.Do(t, os.Chmod(path, mode))
			e := &env{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard, log: slog.New(slog.DiscardHandler)}
			for name, err := range map[string]error{
				"check-config": checkConfigCmd{File: path}.Run(e), "serve": func() error { _, err := serveCmd{Config: path}.read(e); return err }(),
			} {
				refused := err != nil && strings.Contains(err.Error(), "the address has a password, so nobody else may read this file")
				expect.Equal(t, refused, secret && mode == 0o644, "%s of %s, mode %o: %v", name, text, mode, err)
			}
		}
	}
}

func TestCheckConfigRefusesWhatServeWouldRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"uri: mongodb://h:1/":                                                  "",
		"{uri: 'mongodb://h:1/', listen: '0.0.0.0:8090'}":                      "TLS",
		"{uri: 'mongodb://h:1/', listen: '0.0.0.0:8090', auth: none}":          "none",
		"{uri: 'mongodb://h:1/', auth: none, approval-kinds: [split]}":         "need sign-in",
		"{uri: 'mongodb://h:1/', auth: none, public-url: 'https://b.example'}": "none",
		"{uri: 'mongodb://h:1/', auth: [local, nobody]}":                       "auth",
	} {
		path := filepath.Join(t.TempDir(), "shardboard.yaml")
		must.Do(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		code, _, errs := shardboard(t, "check-config", path)
		expect.That(t, (code == 0) == (want == "") && strings.Contains(errs, want), "%s: exit %d, %s", text, code, errs)
	}
}

func TestEveryMistakeOfAConfigurationIsNamedWithItsLine(t *testing.T) {
	_, err := readConfig(t, `listn: 127.0.0.1:8090
auth: [none]
actions: maybe
session-idle: soon
clusters:
  - name: Prod Uction
    uri: http://x
  - name: stage
    uri-file: /nothing/here
    colour: red
  - name: stage
    uri: mongodb://${NOT_SET_ANYWHERE}/
    roles:
      group:sre: viewer
      user:anna: boss
  - title: No name
  - name: twice
    name: again
    uri: mongodb://a/
    uri-file: b
    maintenance-window: never
    project-sizes-per-minute: 999999
  - name: empty
    uri: ""
  - name: empty-file
    uri-file: ""
`)
	var list *configfile.Problems
	must.That(t, errors.As(err, &list), "%v", err)
	want := []string{
		":1: there is no key listn: write listen", ":2: auth: write a text", ":3: actions: write one of off, on",
		":4: session-idle: write a time",
		":6: the name \"Prod Uction\"", ":7: uri: The MongoDB address must begin", ":9: uri-file:", ":10: there is no key colour",
		":11: the name stage is already", ":12: uri: the environment has no ${NOT_SET_ANYWHERE}", ":14: roles:", ":15: roles: the role boss",
		":16: this cluster has no name", ":16: this cluster has no address", ":18: name is there twice, first on line 17",
		":20: the address is there twice",
		":21: maintenance-window:", ":22: project-sizes-per-minute", ":24: uri: write the address", ":26: uri-file: write the name",
	}
	text := strings.Join(list.Lines, "\n")
	for _, w := range want {
		expect.Contains(t, text, "shardboard.yaml"+w, "no address of %s", w)
	}
	if len(list.Lines) != len(want)+1 && len(list.Lines) != len(want) { // the file of line 20 is not there either
		t.Errorf("%d mistakes, want %d:\n%s", len(list.Lines), len(want), text)
	}
}

func TestApprovalLimitsAreThoseOfTheClusterElseOfTheServer(t *testing.T) {
	const text = `approval-bytes: 10GB
approval-kinds: [split, merge]
clusters:
- {name: a, uri: 'mongodb://a:1/'}
- {name: b, uri: 'mongodb://b:1/', approval-bytes: 5MB, approval-chunks: 7, approval-kinds: move, approval-wait: 30m}
- {name: c, uri: 'mongodb://c:1/', approval-bytes: '', approval-kinds: []}
`
	c, err := readConfig(t, text)
	must.Do(t, err)
	for i, want := range []string{"{10000000000 0 [split merge]} 4h0m0s", "{5000000 7 [move]} 30m0s", "{0 0 []} 4h0m0s"} {
		expect.Equal(t, fmt.Sprint(c.Clusters[i].Approval.Rules, c.Clusters[i].Approval.Wait), want, "%s", c.Clusters[i].Name)
	}
	again, err := readConfig(t, strings.ReplaceAll(text, "approval-chunks: 7", "approval-chunks: 8"))
	if err != nil || again.Clusters[1].Settings == c.Clusters[1].Settings || again.Clusters[0].Settings != c.Clusters[0].Settings {
		t.Errorf("%v: another limit does not make the parts of its cluster anew, or makes those of others anew", err)
	}
	_, err = readConfig(t, "auth: none\nclusters:\n- name: a\n  uri: mongodb://a:1/\n  approval-kinds: [split, spilt]\n  approval-wait: 1m\n")
	if err == nil || !strings.Contains(err.Error(), ":5: approval-kinds: there is no kind of change \"spilt\"") ||
		!strings.Contains(err.Error(), ":6: approval-wait") {
		t.Error(err)
	}
	_, err = readConfig(t, "auth: none\nclusters:\n- {name: a, uri: 'mongodb://a:1/', approval-chunks: 5}\n")
	if err == nil || !strings.Contains(err.Error(), ":3: ") || !strings.Contains(err.Error(), "need sign-in") {
		t.Error(err)
	}
}

func TestFlagsWinOverTheConfiguration(t *testing.T) {
	t.Setenv("SHARDBOARD_AUTH", "proxy")
	t.Setenv("SHARDBOARD_LISTEN", "127.0.0.1:1111")
	const text = "listen: 127.0.0.1:2222\nhost: [a.example, b.example]\nactions: on\nclusters:\n- {name: x, uri: 'mongodb://h:1/'}\n"
	c, err := readConfig(t, text, "--host=c.example", "--actions", "off")
	must.Do(t, err)
	if c.Listen != "127.0.0.1:2222" || strings.Join(c.Hosts, " ") != "c.example" || c.Clusters[0].Actions || c.Auth.Mode != "proxy" {
		t.Errorf("%q %q %v %q", c.Listen, c.Hosts, c.Clusters[0].Actions, c.Auth.Mode)
	}
	again, err := readConfig(t, strings.ReplaceAll(text, "2222", "3333"))
	expect.That(t, err == nil && again.Fixed["listen"] != c.Fixed["listen"] && again.Clusters[0].Settings != c.Clusters[0].Settings,
		"%v: %q and %q", err, c.Fixed, again.Fixed)
	if _, err := readConfig(t, text, "--uri", "mongodb://other:1/"); err == nil || !strings.Contains(err.Error(), "remove one of both") {
		t.Error(err)
	}
}

func TestConfigurationWithAPasswordThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shardboard.yaml")
	must.Do(t, os.WriteFile(path, []byte("clusters:\n- name: x\n  uri: mongodb://me:s3cr3t@h:1/\n"), 0o644))
	e := &env{ctx: context.Background(), stdout: io.Discard, stderr: io.Discard, log: slog.New(slog.DiscardHandler), args: []string{"serve"}}
	_, err := readWithFile(e, path)
	if err == nil || !strings.Contains(err.Error(), ":3: uri: the address has a password") || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}
