package access

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// mechanism is a SCRAM mechanism.
type mechanism struct {
	name       string
	hash       scram.HashGeneratorFcn
	saltSize   int // bytes; hash size less the four of PBKDF2's block number
	iterations int // scramIterationCount, scramSHA256IterationCount of MongoDB 5.0
	digested   bool
}

// mechanisms lists the supported mechanisms, strongest first, as in hello.
func mechanisms() []mechanism {
	return []mechanism{
		{name: "SCRAM-SHA-256", hash: scram.SHA256, saltSize: 28, iterations: 15000},
		{name: "SCRAM-SHA-1", hash: scram.SHA1, saltSize: 16, iterations: 10000, digested: true},
	}
}

func mechanismOf(name string) (mechanism, bool) {
	for _, m := range mechanisms() {
		if m.name == name {
			return m, true
		}
	}
	return mechanism{}, false
}

// newCredential derives what is stored of a password, with a fresh salt. SCRAM-SHA-1 first hashes name
// and password together, as MongoDB does. Passwords for SHA-256 are used unchanged:
// clients apply SASLprep, which does not change ASCII or composed text.
func (m mechanism) newCredential(user, password string) (c scram.StoredCredentials, err error) {
	if m.digested {
		sum := md5.Sum([]byte(user + ":mongo:" + password))
		password = hex.EncodeToString(sum[:])
	}
	salt := make([]byte, m.saltSize)
	rand.Read(salt)
	client, err := m.hash.NewClientUnprepped(user, password, "")
	if err != nil {
		return c, err
	}
	return client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: m.iterations})
}

// credentialDocument is a credential in admin.system.users.
func credentialDocument(c scram.StoredCredentials) bson.D {
	return bson.D{
		{Key: "iterationCount", Value: int32(c.Iters)},
		{Key: "salt", Value: base64.StdEncoding.EncodeToString([]byte(c.Salt))},
		{Key: "storedKey", Value: base64.StdEncoding.EncodeToString(c.StoredKey)},
		{Key: "serverKey", Value: base64.StdEncoding.EncodeToString(c.ServerKey)},
	}
}

// conversation is the state of one SCRAM authentication.
type conversation struct {
	*scram.ServerConversation
	db    string
	brief bool // the client needs no empty message at the end
}

// user is who signs in.
func (v *conversation) user() Name { return Name{v.Username(), v.db} }

// refused is the error of every failed authentication, regardless of the reason.
func refused() error {
	return status.Errorf(status.AuthenticationFailed, "Authentication failed.")
}

// begin answers a client's first message. A user who does not exist or lacks the mechanism is refused here, as a
// server does.
func (c *Control) begin(m mechanism, db string, message []byte, brief bool) (v *conversation, challenge string, err error) {
	server, err := m.hash.NewServer(func(user string) (scram.StoredCredentials, error) {
		c.mu.RLock()
		defer c.mu.RUnlock()
		if a := c.accounts[Name{user, db}]; a != nil {
			if cred, ok := a.credentials[m.name]; ok {
				return cred, nil
			}
		}
		return scram.StoredCredentials{}, refused()
	})
	if err != nil {
		return nil, "", err
	}
	v = &conversation{server.NewConversation(), db, brief}
	if challenge, err = v.Step(string(message)); err != nil || v.AuthzID() != "" {
		return nil, "", refused()
	}
	return v, challenge, nil
}
