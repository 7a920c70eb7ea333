package access

import (
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

func saslStart(s *Session, r *engine.Request) (bson.D, error) {
	return s.start(r.DB, r.Body)
}

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
	return bson.D{
		{Key: "conversationId", Value: conversationID},
		{Key: "done", Value: done},
		{Key: "payload", Value: bson.Binary{Data: []byte(message)}},
	}
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
	info := bson.D{{Key: "authenticatedUsers", Value: users}, {Key: "authenticatedUserRoles", Value: rolesArray(s.roles)}}
	if truthy(r.Lookup("showPrivileges")) {
		info = append(info, bson.E{Key: "authenticatedUserPrivileges", Value: s.grants.list()})
	}
	return bson.D{{Key: "authInfo", Value: info}}, nil
}
