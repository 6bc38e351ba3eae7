# A Rack site with OmniAuth. The recipe's code is in RECIPE.
require 'json'
require 'omniauth_openid_connect'
require 'rack'

# The gem reads the discovery document over https, and the tests have http on this machine.
SWD.url_builder = URI::HTTP
OmniAuth.config.logger.level = Logger::WARN
OmniAuth.config.request_validation_phase = nil
OmniAuth.config.on_failure = proc { |env| [500, {}, [env['omniauth.error'].message]] }

site = Rack::Builder.new do
  use Rack::Session::Cookie, secret: 's' * 64
  use OmniAuth::Builder do
    instance_eval ENV.fetch('RECIPE')
  end
  run(proc do |env|
    version = OmniAuth::OpenIDConnect::VERSION
    [200, {}, [JSON.generate(version: version, auth: env['omniauth.auth'])]]
  end)
end
host, port = ARGV[0].split(':')
Rack::Handler::WEBrick.run(site, Host: host, Port: port, AccessLog: [], Logger: WEBrick::Log.new($stderr, 2))
