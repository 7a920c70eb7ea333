package access

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

const (
	protocolError        = 17
	mechanismUnavailable = 334
)

// conversationID is the id of a connection's only SASL conversation.
const conversationID = int32(1)

// maxMessage is the largest client message in bytes. Valid ones are much smaller.
const maxMessage = 4 << 10

// start begins authentication on a database.
func (s *Session) start(db string, body bson.Raw) (bson.D, error) {
	s.open = nil
	name, _ := value.Field(body, "mechanism").StringValueOK()
	m, ok := mechanismOf(name)
	if !ok {
		return nil, &status.Error{Code: mechanismUnavailable, Name: "MechanismUnavailable",
			Message: "Received authentication for mechanism " + name + " which is unknown or not enabled"}
	}
	message, ok := payload(body)
	if !ok {
		return nil, refused()
	}
	options, _ := value.Field(body, "options").DocumentOK()
	v, challenge, err := s.control.begin(m, db, message, truthy(value.Field(options, "skipEmptyExchange")))
	if err != nil {
		return nil, err
	}
	s.open = v
	return saslReply(false, challenge), nil
}

// saslContinue checks the client's proof and, for clients without skipEmptyExchange,
// accepts a final empty message. A failed attempt is discarded.
func saslContinue(s *Session, r *engine.Request) (bson.D, error) {
	v := s.open
	s.open = nil
	if v == nil {
		return nil, status.Errorf(protocolError, "No SASL session state found")
	}
	if id := r.Lookup("conversationId"); !value.IsNumber(id) || value.Float(id) != float64(conversationID) {
		return nil, status.Errorf(protocolError, "sasl: Mismatched conversation id")
	}
	message, ok := payload(r.Body)
	if !ok {
		return nil, refused()
	}
	if v.Valid() {
		if len(message) > 0 {
			return nil, refused()
		}
		s.join(v.user())
		return saslReply(true, ""), nil
	}
	proof, err := v.Step(string(message))
	if err != nil {
		return nil, refused()
	}
	if v.brief {
		s.join(v.user())
		return saslReply(true, proof), nil
	}
	s.open = v
	return saslReply(false, proof), nil
}

// payload is the client's message: binary or, from old clients, base64 text.
func payload(body bson.Raw) ([]byte, bool) {
	v := value.Field(body, "payload")
	if v.Type != bson.TypeBinary {
		return nil, false
	}
	_, data := v.Binary()
	return data, len(data) <= maxMessage
}

func saslReply(done bool, message string) bson.D {
	return value.D("conversationId", conversationID, "done", done, "payload", bson.Binary{Data: []byte(message)})
}

// Hello adds the authentication fields to a hello reply: the mechanisms of a user and
// the answer to a speculative first message. A failed speculative attempt is ignored:
// the client then starts a normal one.
func (s *Session) Hello(r *engine.Request) bson.D {
	var out bson.D
	if full, ok := r.Lookup("saslSupportedMechs").StringValueOK(); ok {
		on := parsed(full)
		if list := s.control.Mechanisms(Name{on.coll, on.db}); list != nil {
			out = append(out, bson.E{Key: "saslSupportedMechs", Value: list})
		}
	}
	if body, ok := r.Lookup("speculativeAuthenticate").DocumentOK(); ok {
		if reply := s.speculate(body, r.Conn); reply != nil {
			out = append(out, bson.E{Key: "speculativeAuthenticate", Value: reply})
		}
	}
	return out
}

// speculate runs the authentication command inside a hello, nil when it fails.
func (s *Session) speculate(body bson.Raw, conn *engine.Conn) (reply bson.D) {
	db, isString := value.Field(body, "db").StringValueOK()
	switch {
	case !isString:
	case value.Field(body, "saslStart").Type != 0:
		reply, _ = s.start(db, body)
	case value.Field(body, "authenticate").Type != 0:
		reply, _ = s.byCertificate(db, body, conn)
	}
	return reply
}

func logout(s *Session, r *engine.Request) (bson.D, error) {
	s.leave(r.DB)
	return bson.D{}, nil
}

// connectionStatus returns the connection's users and, on request, their privileges.
func connectionStatus(s *Session, r *engine.Request) (bson.D, error) {
	s.current()
	users := bson.A{}
	for _, m := range s.users {
		users = append(users, m.name.user())
	}
	return value.D("authInfo", value.D("authenticatedUsers", users, "authenticatedUserRoles", rolesArray(s.roles),
		value.When(truthy(r.Lookup("showPrivileges")), "authenticatedUserPrivileges", s.grants.list()))), nil
}

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
	return value.D("iterationCount", int32(c.Iters), "salt", base64.StdEncoding.EncodeToString([]byte(c.Salt)),
		"storedKey", base64.StdEncoding.EncodeToString(c.StoredKey),
		"serverKey", base64.StdEncoding.EncodeToString(c.ServerKey))
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

const (
	// externalDB is the database of users whose credentials are kept elsewhere, here in
	// client certificates.
	externalDB = "$external"
	// x509 is the mechanism for them.
	x509 = "MONGODB-X509"
)

// byCertificate signs in the user of $external that has the name of the client's
// certificate, by authenticate or the one in a hello. A client may leave out the
// user; one that it names must be the certificate's.
func (s *Session) byCertificate(db string, body bson.Raw, conn *engine.Conn) (bson.D, error) {
	mechanism, _ := value.Field(body, "mechanism").StringValueOK()
	if mechanism != x509 {
		return nil, &status.Error{Code: mechanismUnavailable, Name: "MechanismUnavailable",
			Message: "Auth mechanism not specified or not supported: " + mechanism}
	}
	wanted := value.Field(body, "user")
	name, named := wanted.StringValueOK()
	if conn == nil || conn.Certificate == "" || db != externalDB || wanted.Type != 0 && !named || named && name != conn.Certificate {
		return nil, refused()
	}
	user := Name{conn.Certificate, externalDB}
	if !s.control.external(user) {
		return nil, refused()
	}
	s.join(user)
	return value.D("dbname", externalDB, "user", user.Name), nil
}

// external reports whether a user exists that signs in by certificate.
func (c *Control) external(user Name) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.accounts[user] != nil
}
