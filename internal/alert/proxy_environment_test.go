package alert

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

// Requests to other machines go through the proxy that the environment names, those that NO_PROXY lists do not. The
// environment is read once in a process, so each case is one.
func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	if to := os.Getenv("TEST_ASK"); to != "" {
		askAs(t, to)
		return
	}
	for _, c := range []struct {
		to, no, want string
	}{
		{"https://elsewhere.invalid/x", "", "CONNECT elsewhere.invalid:443"},
		{"https://elsewhere.invalid/x", "elsewhere.invalid", ""},
		{"https://127.0.0.1:1/x", "", ""},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		asked := make(chan string, 9)
		go func() {
			defer close(asked)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					asked <- r.Method + " " + r.Host
				}
				conn.Close()
			}
		}()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheProxyOfTheEnvironmentIsUsed$")
		child.Env = append(os.Environ(), "TEST_ASK="+c.to, "HTTPS_PROXY=http://"+l.Addr().String(), "NO_PROXY="+c.no, "https_proxy=", "no_proxy=")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		l.Close()
		got := ""
		for line := range asked {
			got = line
		}
		if got != c.want {
			t.Errorf("%s, without %q: the proxy is asked %q", c.to, c.no, got)
		}
	}
}

func askAs(t *testing.T, receiver string) {
	if got := post(t.Context(), newClient(nil), newSecret(receiver), nil); got.ok() {
		t.Error("nobody is there")
	}
}
