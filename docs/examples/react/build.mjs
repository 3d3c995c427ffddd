// Bundles the page into dist/.
import { copyFile, mkdir } from 'node:fs/promises';
import { build } from 'esbuild';

await mkdir('dist', { recursive: true });
await build({
  entryPoints: ['src/main.jsx'],
  outfile: 'dist/app.js',
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
});
for (const name of ['index.html', 'style.css']) await copyFile(`src/${name}`, `dist/${name}`);
