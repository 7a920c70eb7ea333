package cluster

import (
	"errors"
	"strings"

	"shardboard/internal/fault"
)

// withConnectAdvice adds cause and remedy to a failed connection at start. The driver
// reports every failure as "server selection error"; the cause is only in its text,
// because the wrapped errors have no types.
func withConnectAdvice(err error, tls bool) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable {
		return err
	}
	out := *f
	out.Text += " " + connectAdvice(err.Error(), tls)
	return &out
}

// closedByPeer are the words for a connection that the other end closed. Which one
// comes depends on whether it was closed before, while or after we wrote.
var closedByPeer = []string{"EOF", "connection reset", "socket was unexpectedly closed", "broken pipe", "closed pipe"}

func connectAdvice(text string, tls bool) string {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("x509: certificate signed by unknown authority"):
		return "Its certificate is signed by an authority that this machine does not trust: name it with tlsCAFile in the address."
	case has("x509: certificate is valid for", "x509: cannot validate certificate for", "x509: certificate is not valid for"):
		return "Its certificate is for another name: use the name that is in the certificate."
	case has("x509: certificate has expired"):
		return "Its certificate has expired, or the clock of this machine is wrong: renew the one or set the other."
	case has("tls: certificate required", "tls: bad certificate", "tls: handshake failure"):
		return "It wants a certificate of the client: name one with tlsCertificateKeyFile in the address."
	case has("load balancing mode"):
		return "The address says loadBalanced=true, and what listens there does not support that: remove it."
	case has("tls: first record does not look like a TLS handshake"):
		return "The address asks for TLS, and what listens there does not speak it: remove tls=true, or correct the port."
	case has("no such host", "lookup "):
		return "Correct the host in the address, or look at the DNS of this machine."
	case has("connection refused"):
		return "Nothing listens there: start the mongos, or correct host and port."
	case has("no route to host", "network is unreachable", "host is down"):
		return "There is no way to that machine: look at its network and at the firewalls between."
	case has("length of read message too large", "malformed message length", "unknown opcode"):
		return "What listens there is no MongoDB server: correct host and port."
	case has("incomplete read of message header: context deadline", "incomplete read of message header: read tcp") && !has("connection reset"):
		return "It takes connections and does not answer: the mongos is frozen, overloaded or starting. Look at its log; " +
			"restart it if nothing else helps."
	case has("i/o timeout"):
		return "Nothing comes back from there: a firewall drops the packets, or the address is wrong."
	case has(closedByPeer...) && tls:
		return "It closes the connection when TLS begins: it may speak no TLS (then remove tls=true), or want another version of it."
	case has(closedByPeer...):
		return "It closes each connection at once: it may want TLS (then add tls=true), or refuse this machine."
	}
	return "Look whether the mongos runs, and whether the address is right."
}
