// Starts a replica set, makes its administrator and adds members that are missing. It runs in mongosh on the network of
// the first member, and changes nothing when all is as it should be.
//   REPLICA_SET  its name            MEMBERS  host:port of all members, with blanks between them; the first one is this one
//   CONFIG_SERVER  "yes" for config servers
const { readFileSync } = require('fs');
const name = process.env.REPLICA_SET;
const members = process.env.MEMBERS.split(' ');
const password = readFileSync(`${process.env.SECRETS ?? '/secrets'}/admin`, 'utf8').trim();
const admin = connect(`mongodb://127.0.0.1:${members[0].split(':')[1]}/admin?directConnection=true`);

// waitFor repeats a check for two minutes. A server that refuses may be starting, electing or busy with another change.
const waitFor = (what, check) => {
  let refused = '';
  for (let tries = 0; tries < 120; tries++) {
    try {
      if (check()) return;
    } catch (e) {
      refused = `: ${e.message}`;
    }
    sleep(1000);
  }
  throw new Error(`${what}: not within two minutes${refused}`);
};

const signIn = () => {
  try {
    return admin.auth('admin', password).ok === 1;
  } catch {
    return false; // there is no such user yet, or this member is still starting
  }
};

// While there is no user, a connection from localhost may start the set and make the first one. With one, it may neither.
waitFor('the administrator', () => {
  if (signIn()) return true;
  if (!admin.hello().setName) {
    const config = { _id: name, members: [{ _id: 0, host: members[0] }] };
    if (process.env.CONFIG_SERVER === 'yes') config.configsvr = true;
    admin.adminCommand({ replSetInitiate: config });
  }
  if (!admin.hello().isWritablePrimary) return false;
  admin.createUser({ user: 'admin', pwd: password, roles: ['root'] });
  return signIn();
});

const memberOf = (config, host) => config.members.some((m) => m.host === host);
const configured = admin.adminCommand({ replSetGetConfig: 1 }).config;
const missing = members.filter((host) => !memberOf(configured, host));
if (missing.length > 0) {
  // After a restart another member than this one may be the primary, which alone can add one. The password has digits
  // and letters only.
  const set = connect(`mongodb://admin:${password}@${members.join(',')}/admin?replicaSet=${name}&authSource=admin`);
  for (const host of missing) { // one at a time: a replica set does not take more in one step
    waitFor(`to add ${host}`, () => {
      const { config } = set.adminCommand({ replSetGetConfig: 1 });
      if (memberOf(config, host)) return true;
      config.version++;
      config.members.push({ _id: Math.max(...config.members.map((m) => m._id)) + 1, host });
      return set.adminCommand({ replSetReconfig: config }).ok === 1;
    });
    waitFor(`member ${host}`, () => {
      const state = set.adminCommand({ replSetGetStatus: 1 }).members.find((m) => m.name === host);
      return state?.stateStr === 'SECONDARY';
    });
    print(`${name}: added ${host}`);
  }
}
print(`${name}: ready with ${members.length} of ${members.length} members`);
