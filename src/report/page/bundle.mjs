// Makes the page of the report one piece of C++: node bundle.mjs OUT.cpp, with the packages of package.json in NODE_PATH.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { buildSync } = createRequire(join(process.env.NODE_PATH, 'none.js'))('esbuild');
const bundled = buildSync({
  entryPoints: [join(here, 'main.js')], bundle: true, minify: true, write: false, format: 'iife', globalName: 'photonrail',
  nodePaths: [process.env.NODE_PATH], target: ['es2022'], legalComments: 'inline', define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'warning',
});
// In a page, "</script" would end the script.
const script = bundled.outputFiles[0].text.replaceAll('</script', '<\\/script');
const style = readFileSync(join(here, 'page.css'), 'utf8');
const page = readFileSync(join(here, 'page.html'), 'utf8').replace('/*style*/', () => style);

const literal = (text) => {
  if (text.includes(')photonrail"')) throw new Error('the text would end its own literal');
  return `R"photonrail(${text})photonrail"`;
};
writeFileSync(process.argv[2], `// Made from src/report/page by the build.
#include "report/page_files.hpp"

namespace photonrail::report {

PageFiles page_files() { return {${literal(page)}, ${literal(script)}, {}}; }

}  // namespace photonrail::report
`);
