package cluster

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

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
		expect.Contains(t, connectAdvice(text, false), want, "%s", text)
	}
	if got := connectAdvice("Last error: EOF", true); !strings.Contains(got, "when TLS begins") {
		t.Error(got)
	}
}
