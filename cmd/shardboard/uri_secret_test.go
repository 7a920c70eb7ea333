package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAURIWithASecretIsRemovedFromTheArguments(t *testing.T) {
	for _, address := range []string{
		"mongodb://me:s3cr3t@127.0.0.1:1/",
		"mongodb://127.0.0.1:1/?tlsCertificateKeyFilePassword=s3cr3t",
		"mongodb+srv://c.example/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:s3cr3t",
	} {
		for _, typed := range [][]string{{"--uri=" + address}, {"--uri", address}} {
			args := append(append([]string{"shardboard", "locate"}, typed...), "--ns", "a.b", "x")
			rest, moved := withoutSecrets(args)
			want := []string{"shardboard", "locate", "--ns", "a.b", "x"}
			expect.That(t, len(moved) == 1 && moved["--uri"] == address && slices.Equal(rest, want), "%v: %v and %q", args, rest, moved)
		}
	}
	for _, args := range [][]string{
		{"shardboard", "serve", "--uri", "mongodb://127.0.0.1:1/", "--listen", "x"}, {"shardboard", "serve", "--uri=mongodb://me@h/"},
		{"shardboard", "serve", "--uri"}, {"shardboard", "serve", "--uri", "nonsense"},
		{"shardboard", "locate", "--", "--uri=mongodb://a:b@h/"}, {"shardboard"},
	} {
		rest, moved := withoutSecrets(args)
		expect.That(t, len(moved) == 0 && slices.Equal(rest, args), "%v: %v and %q", args, rest, moved)
	}
}

// What is not valid is mostly a password that should have been percent-encoded.
func TestInvalidAddressesWithASecretAreRemovedFromTheArguments(t *testing.T) {
	for _, address := range []string{"mongodb://me:a@b@h/", "mongodb://me:a/b@h/", "mongodb://me:a?b@h/", "mongodb+srv://me:a:b@h/",
		"mongodb://me:%@h"} {
		rest, moved := withoutSecrets([]string{"shardboard", "serve", "--uri", address})
		expect.That(t, moved["--uri"] == address && len(rest) == 2, "%s stays visible", address)
	}
}

func TestStoresWithASecretAreRemovedFromTheArguments(t *testing.T) {
	rest, moved := withoutSecrets([]string{"shardboard", "serve", "--store=mongodb://me:a@h/", "--uri", "mongodb://me:b@h/", "--listen", "x"})
	want := []string{"shardboard", "serve", "--listen", "x"}
	expect.That(t, slices.Equal(rest, want) && len(moved) == 2 &&
		moved["--store"] == "mongodb://me:a@h/" && moved["--uri"] == "mongodb://me:b@h/", "%v and %q", rest, moved)
	rest, moved = withoutSecrets([]string{"shardboard", "store", "copy", "--from", "dir", "--to", "mongodb://me:c@h/"})
	want = []string{"shardboard", "store", "copy", "--from", "dir"}
	expect.That(t, slices.Equal(rest, want) && moved["--to"] == "mongodb://me:c@h/", "%v and %q", rest, moved)
}

// Checks the arguments of the running program, which other users of the machine can read.
func TestThePasswordOfAURIIsNotVisibleInTheProcessList(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("looks into /proc")
	}
	bin := filepath.Join(t.TempDir(), "shardboard")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("unexpected error %v, output %s", err, out)
	}
	cmd := exec.Command(bin, "doctor", "--uri", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=60000")
	said, err := cmd.StderrPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "everybody on this machine can see the arguments") || strings.Contains(line, "s3cr3t") {
		t.Errorf("unexpected error %v, line %s", err, line)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
		if err == nil && string(args) == bin+"\x00doctor\x00" {
			return
		}
		must.That(t, time.Since(begin) <= 30*time.Second, "the arguments are %q (%v)", args, err)
	}
}

// No server listens at these URIs, so accepted commands end with exit code 6.
func TestSecretsFromTheEnvironmentAndURIsWithoutSecretsAreAccepted(t *testing.T) {
	for _, address := range []string{"mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100",
		"mongodb://me@127.0.0.1:1/?serverSelectionTimeoutMS=100&authMechanism=MONGODB-X509&tls=true"} {
		code, _, errs := shardboard(t, "doctor", "--uri", address)
		expect.That(t, code == 6, "%s: exit %d, %s", address, code, errs)
	}
	t.Setenv("SHARDBOARD_URI", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=100")
	code, out, errs := shardboard(t, "doctor")
	expect.That(t, code == 6 && !strings.Contains(out+errs, "s3cr3t"), "exit %d, %s%s", code, out, errs)
}

func TestSimclusterWarnsWhenItIsOpenToTheNetwork(t *testing.T) {
	for listen, open := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var errs bytes.Buffer
		out := cancelOnText{cancel: cancel}
		code := run(ctx, []string{"simcluster", "--still", "--projects", "1", "--documents", "1", "--listen", listen}, &out, &errs)
		cancel()
		expect.That(t, code == 0 && strings.Contains(errs.String(), "without signing in") == open,
			"%s: exit %d, %s%s", listen, code, out.String(), errs.String())
	}
}

// cancelOnText cancels a command at its first output.
type cancelOnText struct {
	bytes.Buffer
	cancel func()
}

func (e *cancelOnText) Write(p []byte) (int, error) {
	defer e.cancel()
	return e.Buffer.Write(p)
}

func TestFilesOpenToOthersAreRefusedWithTheCommandThatFixesThem(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		must.Do(t, os.Chmod(path, mode))
		return path
	}
	const uri = "mongodb://dash:s3cr3t@127.0.0.1:1/"
	secret, wide := file("open secret", "s3cr3t\n", 0o644), file("wide", "tenants: []\n", 0o666)
	address := file("uri", uri, 0o644)
	good := passwordFile(t, "correct horse battery")
	data := filepath.Join(dir, "data")
	must.Do(t, os.Mkdir(data, 0o700))
	must.Do(t, os.Chmod(data, 0o777))
	serve := []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "127.0.0.1:0",
		"--audit-key", filepath.Join(dir, "keys", "audit.key"), "--data-dir", filepath.Join(dir, "own")}
	mend := "chmod 600 '" + secret + "'"
	for _, c := range []struct {
		says string
		env  string
		args []string
	}{
		{"chmod 600 " + address, "", []string{"doctor", "--uri-file", address}},
		{"chmod 600 " + address, "SHARDBOARD_URI_FILE=" + address, []string{"locate", "x"}},
		{"chmod go-w " + wide, "", []string{"locate", "x", "--uri", "mongodb://127.0.0.1:1", "--profile", wide}},
		{mend, "SHARDBOARD_TOKEN_FILE=" + secret, []string{"runs"}},
		{mend, "", []string{"user", "add", "anna", "--password-file", secret, "--data-dir", filepath.Join(dir, "own")}},
		{mend, "", []string{"simcluster", "--auth", "--user-file", secret}},
		{"chmod go-w " + wide, "",
			[]string{"user", "add", "anna", "--password-file", good, "--leaked-passwords", wide, "--data-dir", filepath.Join(dir, "own")}},
		{"chmod go-w " + wide, "", append(serve[:len(serve):len(serve)], "--alerts", wide)},
		{"chmod 700 " + data, "", []string{"user", "list", "--data-dir", data}},
		{"chmod 700 " + data, "", []string{"audit", "verify", "--data-dir", data}},
	} {
		t.Run(c.says+" "+c.args[0], func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			code, out, errs := shardboard(t, c.args...)
			expect.That(t, code == 2 && strings.Contains(errs, c.says) && !strings.Contains(out+errs, "s3cr3t"),
				"exit %d, %q; expected exit 2 and %q", code, errs, c.says)
		})
	}
}

// For example --uri-file <(pass show mongodb).
func TestAURIIsReadFromAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	must.Do(t, must.Err(w.WriteString("http://not-mongodb/\n")))
	w.Close()
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd")
	}
	says(t, 2, "must begin with mongodb://", "doctor", "--uri-file", path)
}
