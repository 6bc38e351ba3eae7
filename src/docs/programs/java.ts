/** Writes samples for Java 17 or newer with its standard library: `java Sample.java` runs them. */
import { appended, type Call, inParts, type Name, type Proof, type Value } from './call.ts'

/** Writes a request as a program. */
export function inJava(call: Call): string {
  const { proof, set, environment, isTimed, fields } = call
  const { imports, steps } = SIGNING[proof] ?? { imports: [], steps: [] }
  const body = inParts(
    [
      ...set.map(([name, value]) => `var ${variable(name)} = ${text([value])};`),
      ...environment.map(([name]) => `var ${variable(name)} = System.getenv("${name}");`),
      ...(isTimed ? ['var timestamp = String.valueOf(System.currentTimeMillis() / 1000);'] : []),
    ],
    [
      ...(fields.length === 0 ? [] : ['var fields = new TreeMap<String, String>();']),
      ...fields.map(([name, value]) => `fields.put("${name}", ${text(value)});`),
    ],
    steps,
    sending(call),
  )
  return inParts(
    ['import java.net.*;', 'import java.net.http.*;', 'import java.util.*;', ...imports],
    [
      'public class Sample {',
      '  public static void main(String[] args) throws Exception {',
      body.replaceAll(/^(?=.)/gm, '    '),
      '  }',
      '}',
    ],
  )
}

const textToSign = (add: string) => [
  'var pairs = new ArrayList<String>();',
  `fields.forEach((name, value) -> ${add});`,
  'var text = String.join("&", pairs);',
]
const ADD = 'pairs.add(name + "=" + value)'
const ADD_UNLESS_EMPTY = `{ if (!value.isEmpty()) ${ADD}; }`

const SIGNING: Partial<Record<Proof, { imports: string[]; steps: string[] }>> = {
  hmac: {
    imports: ['import javax.crypto.Mac;', 'import javax.crypto.spec.SecretKeySpec;'],
    steps: [
      ...textToSign(ADD),
      'var mac = Mac.getInstance("HmacSHA256");',
      'mac.init(new SecretKeySpec(secretKey.getBytes("UTF-8"), "HmacSHA256"));',
      'fields.put("signature", HexFormat.of().formatHex(mac.doFinal(text.getBytes("UTF-8"))));',
    ],
  },
  md5: {
    imports: ['import java.security.MessageDigest;'],
    steps: [
      ...textToSign(ADD_UNLESS_EMPTY),
      'var sum = MessageDigest.getInstance("MD5").digest((text + key).getBytes("UTF-8"));',
      'fields.put("sign", HexFormat.of().formatHex(sum));',
      'fields.put("sign_type", "MD5");',
    ],
  },
  rsa: {
    imports: ['import java.security.*;', 'import java.security.spec.PKCS8EncodedKeySpec;'],
    steps: [
      ...textToSign(ADD_UNLESS_EMPTY),
      'var der = Base64.getDecoder().decode(privateKey);',
      'var signer = Signature.getInstance("SHA256withRSA");',
      'signer.initSign(KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der)));',
      'signer.update(text.getBytes("UTF-8"));',
      'fields.put("sign", Base64.getEncoder().encodeToString(signer.sign()));',
      'fields.put("sign_type", "RSA");',
    ],
  },
  client: {
    imports: [],
    steps: [
      'var basic = Base64.getEncoder().encodeToString((clientId + ":" + clientSecret).getBytes("UTF-8"));',
    ],
  },
}

const MEDIA = { form: 'application/x-www-form-urlencoded', json: 'application/json' }
const ENCODED = [
  'var encoded = new StringJoiner("&");',
  'for (var field : fields.entrySet())',
  '  encoded.add(field.getKey() + "=" + URLEncoder.encode(field.getValue(), "UTF-8"));',
]

function sending({ proof, method, sentIn, address, json, isPage }: Call): string[] {
  const steps = sentIn === 'form' || sentIn === 'query' ? [...ENCODED] : []
  const url = sentIn === 'query' ? `${text(appended(address, '?'))} + encoded` : text(address)
  if (isPage) return [...steps, '// A browser opens this address.', `System.out.println(${url});`]
  if (json !== undefined)
    steps.push(
      'var body = """',
      ...JSON.stringify(json, null, 2).replaceAll('\\', '\\\\').split('\n'),
      '""";',
    )
  steps.push(`var request = HttpRequest.newBuilder(URI.create(${url}))`)
  if (sentIn === 'form' || sentIn === 'json') steps.push(`    .header("Content-Type", "${MEDIA[sentIn]}")`)
  if (proof === 'client') steps.push('    .header("Authorization", "Basic " + basic)')
  if (proof === 'bearer') steps.push('    .header("Authorization", "Bearer " + accessToken)')
  const body = sentIn === undefined ? '""' : json === undefined ? 'encoded.toString()' : 'body'
  if (method === 'post') steps.push(`    .POST(HttpRequest.BodyPublishers.ofString(${body}))`)
  return [
    ...steps,
    '    .build();',
    'var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    'System.out.println(answer.body());',
  ]
}

const variable = (name: Name) =>
  name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

function text(value: Value): string {
  return value
    .map((part) => (typeof part === 'string' ? JSON.stringify(part) : variable(part.name)))
    .join(' + ')
}
