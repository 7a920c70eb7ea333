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
	"strings"
	"testing"
	"time"
)

func TestAURIWithASecretIsRemovedFromTheArguments(t *testing.T) {
	for _, address := range []string{
		"mongodb://me:s3cr3t@127.0.0.1:1/",
		"mongodb://127.0.0.1:1/?tlsCertificateKeyFilePassword=s3cr3t",
		"mongodb+srv://c.example/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:s3cr3t",
	} {
		for _, typed := range [][]string{{"--uri=" + address}, {"--uri", address}} {
			args := append(append([]string{"shardboard", "locate"}, typed...), "--ns", "a.b", "x")
			rest, secret := withoutSecret(args)
			if want := []string{"shardboard", "locate", "--ns", "a.b", "x"}; secret != address || !slices.Equal(rest, want) {
				t.Errorf("%v: %v and %q", args, rest, secret)
			}
		}
	}
	for _, args := range [][]string{
		{"shardboard", "serve", "--uri", "mongodb://127.0.0.1:1/", "--listen", "x"}, {"shardboard", "serve", "--uri=mongodb://me@h/"},
		{"shardboard", "serve", "--uri"}, {"shardboard", "serve", "--uri", "nonsense"},
		{"shardboard", "locate", "--", "--uri=mongodb://a:b@h/"}, {"shardboard"},
	} {
		if rest, secret := withoutSecret(args); secret != "" || !slices.Equal(rest, args) {
			t.Errorf("%v: %v and %q", args, rest, secret)
		}
	}
}

// The running program, as others on the machine see it.
func TestThePasswordOfAURIIsNotVisibleInTheProcessList(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("looks into /proc")
	}
	bin := filepath.Join(t.TempDir(), "shardboard")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	cmd := exec.Command(bin, "doctor", "--uri", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=60000")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "everybody on this machine can see the arguments") || strings.Contains(line, "s3cr3t") {
		t.Errorf("%v: %s", err, line)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
		if err == nil && string(args) == bin+"\x00doctor\x00" {
			return
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("the arguments are %q (%v)", args, err)
		}
	}
}

// Nobody answers there, so each gets as far as that: exit code 6.
func TestSecretsFromTheEnvironmentAndURIsWithoutSecretsAreAccepted(t *testing.T) {
	for _, address := range []string{"mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100",
		"mongodb://me@127.0.0.1:1/?serverSelectionTimeoutMS=100&authMechanism=MONGODB-X509&tls=true"} {
		if code, _, errs := shardboard(t, "doctor", "--uri", address); code != 6 {
			t.Errorf("%s: exit %d, %s", address, code, errs)
		}
	}
	t.Setenv("SHARDBOARD_URI", "mongodb://me:s3cr3t@127.0.0.1:1/?serverSelectionTimeoutMS=100")
	if code, out, errs := shardboard(t, "doctor"); code != 6 || strings.Contains(out+errs, "s3cr3t") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func TestSimclusterWarnsWhenItIsOpenToTheNetwork(t *testing.T) {
	for listen, open := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var errs bytes.Buffer
		out := cancelOnText{cancel: cancel}
		code := run(ctx, []string{"simcluster", "--still", "--projects", "1", "--documents", "1", "--listen", listen}, &out, &errs)
		cancel()
		if code != 0 || strings.Contains(errs.String(), "without signing in") != open {
			t.Errorf("%s: exit %d, %s%s", listen, code, out.String(), errs.String())
		}
	}
}

// cancelOnText ends a command that runs until it is stopped, once it has said something.
type cancelOnText struct {
	bytes.Buffer
	cancel func()
}

func (e *cancelOnText) Write(p []byte) (int, error) {
	defer e.cancel()
	return e.Buffer.Write(p)
}
