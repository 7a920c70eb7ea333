package cluster

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
)

// The first line of a connection error has cause and remedy. The test uses the real
// driver and real connections, because the advice depends on the driver's texts.
func TestConnectionErrorStartsWithCauseAndRemedy(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("it waits some seconds for the driver; its texts are in the test below")
	}
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go serve(c)
			}
		}()
		return l.Addr().String()
	}
	read := func(c net.Conn) { _, _ = c.Read(make([]byte, 512)) }
	closed := listen(func(c net.Conn) { read(c); _ = c.Close() })
	other := listen(func(c net.Conn) { read(c); _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); _ = c.Close() })
	held := listen(func(c net.Conn) { defer c.Close(); read(c); read(c) })
	none := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}()
	for name, c := range map[string]struct{ uri, says string }{
		"nothing listens":  {"mongodb://" + none + "/", "Nothing listens there"},
		"no MongoDB":       {"mongodb://" + other + "/", "no MongoDB server"},
		"no TLS":           {"mongodb://" + other + "/?tls=true", "does not speak it"},
		"closed under TLS": {"mongodb://" + closed + "/?tls=true", "closes the connection when TLS begins"},
		"closed":           {"mongodb://" + closed + "/", "may want TLS"},
		"frozen":           {"mongodb://" + held + "/", "does not answer: the mongos is frozen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each attempt must end long before the server selection timeout, also on a slow
			// machine.
			join := "?"
			if strings.Contains(c.uri, "?") {
				join = "&"
			}
			uri, err := ParseURI(c.uri + join + "connectTimeoutMS=100")
			if err != nil {
				t.Fatal(err)
			}
			_, err = Connect(context.Background(), uri, Options{Timeout: 800 * time.Millisecond})
			text := fault.Text(err)
			if fault.Of(err) != fault.Unavailable || fault.Title(err) != fault.NoAnswerTitle ||
				!strings.Contains(text, c.says) || !strings.Contains(text, "127.0.0.1:") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestEveryConnectionErrorHasARemedy(t *testing.T) {
	for text, want := range map[string]string{
		"dial tcp: lookup no-such-host.invalid on 10.0.0.1:53: no such host":               "Correct the host",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority": "tlsCAFile",
		"x509: certificate is valid for a.example, not b.example":                          "another name",
		"x509: certificate has expired or is not yet valid":                                "has expired",
		"remote error: tls: certificate required":                                          "tlsCertificateKeyFile",
		"dial tcp 10.0.0.1:27017: i/o timeout":                                             "firewall",
		"dial tcp 10.0.0.1:27017: connect: no route to host":                               "no way to that machine",
		"Last error: dial tcp 127.0.0.1:1: connect: connection refused":                    "Nothing listens there",
		"connection(127.0.0.1:7[-14]) length of read message too large":                    "no MongoDB server",
		"tls: first record does not look like a TLS handshake":                             "does not speak it",
		"incomplete read of message header: context deadline exceeded: client timed out":   "is frozen",
		"failed to write: write tcp 127.0.0.1:5->127.0.0.1:6: write: broken pipe":          "may want TLS",
		"failed to set read deadline: io: read/write on closed pipe":                       "may want TLS",
		"Last error: EOF": "may want TLS",
		"something new":   "Look whether the mongos runs",
	} {
		if got := connectAdvice(text, false); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := connectAdvice("Last error: EOF", true); !strings.Contains(got, "when TLS begins") {
		t.Error(got)
	}
}
