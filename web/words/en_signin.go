package words

// signIn are the sentences of sign-in, sessions, users and roles.
var signIn = map[string]string{}
