"""The published command line of AgentVault, and calls as its deployment script and its pipelines make them, with a registry."""

import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from urllib.parse import quote

import httpx

CLIENT = f'agentvault_cli {version("agentvault-cli")}'
HUB = sys.argv[1]
NAME = 'tester'
UV = os.path.abspath('../uv/venv/bin/uv')


def cli(*arguments, **environment):
    """Runs the command line as it is. Its console script does not await its commands; run as a module, it does."""
    done = subprocess.run(
        [sys.executable, '-m', 'agentvault_cli.main', *arguments],
        env={**os.environ, 'AGENTVAULT_REGISTRY_URL': HUB, 'COLUMNS': '200', **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def require(condition, shown):
    if not condition:
        raise AssertionError(str(shown)[-2000:])


class Developer:
    def __init__(self):
        self.http = httpx.Client(base_url=HUB, timeout=60)
        account = {'name': NAME, 'email': f'{NAME}@example.com', 'password': 'a long password'}
        self.http.post('/auth/register', json=account).raise_for_status()
        token = self.http.post('/auth/login', data={'username': account['email'], 'password': account['password']})
        self.login = {'Authorization': f'Bearer {token.raise_for_status().json()["access_token"]}'}
        made = self.http.post('/developers/me/apikeys', json={'description': 'deployment'}, headers=self.login)
        self.key = {'X-Api-Key': made.raise_for_status().json()['plain_api_key']}


DEVELOPER = Developer()


def deploy(agent):
    """Looks a card up, then changes or registers it."""
    card = httpx.get(f'{HUB}/agents/{agent}/agentvault').raise_for_status().json()
    card['humanReadableId'] = f'{NAME}/{agent}'
    found = DEVELOPER.http.get(f'/api/v1/agent-cards/id/{quote(card["humanReadableId"], safe="")}')
    if found.status_code == 200:
        path = f'/api/v1/agent-cards/{found.json()["id"]}'
        return DEVELOPER.http.put(path, json={'card_data': card}, headers=DEVELOPER.key).raise_for_status()
    return DEVELOPER.http.post('/api/v1/agent-cards/', json={'card_data': card}, headers=DEVELOPER.key).raise_for_status()


def deployment():
    made, changed = deploy('echo'), deploy('echo')
    deploy('counter')
    require((made.status_code, changed.status_code) == (201, 200), (made, changed))
    require(made.json()['id'] == changed.json()['id'], changed.text)


def lookups():
    for path in [f'id/{NAME}/echo', f'id/{NAME}%2Fecho', f'by-hri?hri={NAME}/echo']:
        card = httpx.get(f'{HUB}/api/v1/agent-cards/{path}').raise_for_status().json()
        require(card['card_data']['humanReadableId'] == f'{NAME}/echo', card)


def config():
    status, shown = cli('config', 'list', AGENTVAULT_KEY_ECHO='secret-key')
    require(status == 0 and 'echo' in shown and 'secret-key' not in shown, shown)
    status, shown = cli('config', 'get', 'echo', AGENTVAULT_KEY_ECHO='secret-key')
    require(status == 0 and 'ENV' in shown.upper(), shown)


def discover():
    status, shown = cli('discover', 'echo', '--limit', '5')
    require(status == 0 and '200 OK' in shown and 'echo' in shown, shown)
    status, shown = cli('discover', '--limit', '1', '--offset', '1')
    require(status == 0 and '200 OK' in shown and 'Page 2' in shown, shown)


def completed(*arguments):
    # This release takes its own exit for an error and ends with 1 whatever the outcome; the outcome is the text.
    _, shown = cli('run', *arguments)
    require('Task completed.' in shown, shown)
    return shown


def run():
    require('Hello there' in completed('-a', f'{NAME}/echo', '-i', 'Hello there'), 'no artifact')
    with tempfile.TemporaryDirectory() as directory:
        completed('-a', f'{NAME}/echo', '-i', 'x' * 3000, '--output-artifacts', directory)
        sizes = [os.path.getsize(os.path.join(directory, file)) for file in os.listdir(directory)]
        require(sizes == [3000], sizes)
    _, shown = cli('run', '-a', f'{NAME}/none', '-i', 'x')
    require('404' in shown, shown)


class Model(BaseHTTPRequestHandler):
    """A language model that repeats."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        if 'contents' in asked:  # of Google
            content = {'role': 'model', 'parts': [{'text': 'model: ' + asked['contents'][-1]['parts'][0]['text']}]}
            answer = {'candidates': [{'content': content, 'finishReason': 'STOP'}]}
        else:
            answer = {'choices': [{'message': {'content': 'model: ' + asked['messages'][-1]['content']}}]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def installed(directory):
    """The Python of a new environment that has what the project asks for, and nothing else."""
    place = os.path.join(directory, 'environment')
    python = os.path.join(place, 'bin', 'python')
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', place], check=True, timeout=120)
    done = subprocess.run(
        [UV, 'pip', 'install', '--quiet', '--system-certs', '--python', python, '-r', 'requirements.txt'],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=600,
    )
    require(done.returncode == 0, done.stderr)
    return python


def build():
    """A generated wrapper is installed and starts, and the command line runs it by its card."""
    generated({
        'agent_name': 'My "quoted" Agent',
        'agent_description': 'Repeats',
        'agent_builder_type': 'simple_wrapper',
        'wrapper_llm_backend_type': 'local_openai_compatible',
        'wrapper_model_name': 'repeater',
        'wrapper_system_prompt': 'Say "it"\n\\n again',
    })


def build_adk():
    """So does an agent of Google's kit."""
    generated({
        'agent_name': 'My "quoted" Kit Agent',
        'agent_description': 'Repeats',
        'agent_builder_type': 'adk_agent',
        'adk_model_name': 'gemini-2.0-flash',
        'adk_instruction': 'Say "it"\n\\n again',
        'adk_tools': ['get_current_time'],
    })


def generated(wanted):
    built = DEVELOPER.http.post('/agent-builder/generate', json=wanted, headers=DEVELOPER.login).raise_for_status()
    model = HTTPServer(('127.0.0.1', 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        zipfile.ZipFile(io.BytesIO(built.content)).extractall(directory)
        package = os.listdir(os.path.join(directory, 'src'))[0]
        port = str(free_port())
        place = os.path.join(directory, 'agent-card.json')
        with open(place) as file:
            card = file.read()
        with open(place, 'w') as file:
            file.write(card.replace(':8001/', f':{port}/'))
        server = subprocess.Popen(
            [installed(directory), '-m', f'src.{package}.main'],
            cwd=directory,
            env={
                **os.environ,
                'PORT': port,
                'LOCAL_API_BASE_URL': f'http://127.0.0.1:{model.server_port}/v1',
                'GOOGLE_API_KEY': 'none',
                'GOOGLE_GEMINI_BASE_URL': f'http://127.0.0.1:{model.server_port}',
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    httpx.get(f'http://localhost:{port}/agent-card.json').raise_for_status()
                    break
                except httpx.HTTPError:
                    if server.poll() is not None:
                        raise AssertionError(server.stderr.read())
                    require(time.monotonic() < deadline, 'not started')
                    time.sleep(0.1)
            require('model: Hello' in completed('-a', place, '-i', 'Hello'), 'no answer')
        finally:
            server.terminate()
            server.wait(30)
            model.shutdown()


def outcome(operation):
    check = {'client': CLIENT, 'dialect': 'AgentVault', 'binding': '', 'operation': operation.__name__}
    try:
        operation()
        return check | {'result': 'passed', 'detail': ''}
    except Exception as failure:
        return check | {'result': 'failed', 'detail': f'{type(failure).__name__}: {failure}'}


def main():
    with ThreadPoolExecutor() as pool:
        builds = [pool.submit(outcome, operation) for operation in [build, build_adk]]
        for operation in [deployment, lookups, config, discover, run]:
            print(json.dumps(outcome(operation)), flush=True)
        for build_ in builds:
            print(json.dumps(build_.result()), flush=True)


main()
