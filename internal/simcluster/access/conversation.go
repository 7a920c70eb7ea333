package access

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"

	"shardboard/internal/simcluster/engine/status"
)

// conversation is the state of one SCRAM authentication.
type conversation struct {
	mech  mechanism
	user  Name
	cred  credential
	known bool // the user exists and may use the mechanism

	first     clientFirst
	nonce     string // the client's and the server's
	challenge string // the server's first message
	brief     bool   // the client needs no empty message at the end
	proven    bool
}

// refused is the error of every failed authentication, regardless of the reason.
func refused() error {
	return status.Errorf(status.AuthenticationFailed, "Authentication failed.")
}

// begin answers a client's first message.
func (c *Control) begin(m mechanism, db string, payload []byte, brief bool) (*conversation, error) {
	first, err := parseClientFirst(string(payload))
	if err != nil {
		return nil, refused()
	}
	v := &conversation{mech: m, user: Name{Name: first.user, DB: db}, first: first, brief: brief}
	v.cred, v.known = c.credential(v.user, m)
	own := make([]byte, 24)
	rand.Read(own)
	v.nonce = first.nonce + base64.StdEncoding.EncodeToString(own)
	v.challenge = fmt.Sprintf("r=%s,s=%s,i=%s", v.nonce, base64.StdEncoding.EncodeToString(v.cred.salt), strconv.Itoa(v.cred.iterations))
	return v, nil
}

// prove checks the client's second message and returns the server's proof.
func (v *conversation) prove(payload []byte) ([]byte, error) {
	final, err := parseClientFinal(string(payload))
	if err != nil || final.binding != v.first.header || final.nonce != v.nonce {
		return nil, refused()
	}
	message := v.first.bare + "," + v.challenge + "," + final.without
	// Always compute both checks, so that unknown users take as long as known ones.
	fits := v.mech.proves(v.cred, message, final.proof)
	if !fits || !v.known {
		return nil, refused()
	}
	v.proven = true
	return []byte("v=" + base64.StdEncoding.EncodeToString(v.mech.mac(v.cred.server, message))), nil
}
